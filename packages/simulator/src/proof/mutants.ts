/**
 * The production code with one thing broken. A simulation or an exploration that finds nothing wrong with it proves nothing of the code as
 * it is. `from` stands in the file exactly once.
 */
export interface Mutant {
  readonly name: string;
  /** Below `packages/`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly caughtBy: { readonly by: "exploration" } | { readonly by: "simulation"; readonly seed: number };
}

const stopRows = "daemon-supervisor/src/lifecycle/stop-rows.ts";
const launchRows = "daemon-supervisor/src/lifecycle/launch-rows.ts";
const serveRows = "daemon-supervisor/src/lifecycle/serve-rows.ts";
const parts = "daemon-supervisor/src/lifecycle/parts.ts";
const reduce = "daemon-supervisor/src/lifecycle/reduce.ts";
const registry = "daemon-supervisor/src/registry.ts";
const ender = "daemon-supervisor/src/effects/end.ts";
const watch = "daemon-supervisor/src/effects/watch.ts";

export const mutants: readonly Mutant[] = [
  {
    name: "a stop that joins nothing weakens an archive",
    file: parts,
    from: "isStronger(incoming.goal, current.goal) ? incoming.goal : current.goal",
    to: "incoming.goal",
    caughtBy: { by: "exploration" },
  },
  {
    name: "a changed goal keeps its stopId",
    file: parts,
    from: "{ ...current, stopId: incoming.stopId, goal, force }",
    to: "{ ...current, goal, force }",
    caughtBy: { by: "exploration" },
  },
  {
    name: "answers of another stop are taken",
    file: reduce,
    from: 'if ("stopId" in event && event.type !== "signalled" && event.stopId !== stopIdOf(state)) return "another stop";',
    to: "",
    caughtBy: { by: "exploration" },
  },
  {
    name: "a kill that was sent is not tried again",
    file: stopRows,
    from: '{ ...state, phase: "killing", due: { timer: "kill", at: now + KILL_RETRY_MS } }',
    to: '{ ...state, phase: "killing", due: null }',
    caughtBy: { by: "exploration" },
  },
  {
    name: "the deadline finalizes without proof of the end",
    file: stopRows,
    from: 'if (!process) return ignore("there is no process yet");',
    to: 'if (!process) return ignore("there is no process yet");\n    if (state.phase === "killing") return finalize(state, state.intent, state.since);',
    caughtBy: { by: "exploration" },
  },
  {
    name: "a clean-up that failed is not tried again",
    file: stopRows,
    from: 'problem: reason, due: { timer: "finalize", at: now + CLEAN_UP_RETRY_MS }',
    to: "problem: reason, due: null",
    caughtBy: { by: "exploration" },
  },
  {
    name: "a stop is forgotten when its clean-up is over",
    file: stopRows,
    from: 'if (goal !== "replace") return { kind: "remove" };',
    to: "",
    caughtBy: { by: "exploration" },
  },
  {
    name: "a worker that is busy rescinds any stop",
    file: stopRows,
    from: 'state.phase === "asked" && state.process && state.intent.goal === "passivate"',
    to: 'state.phase === "asked" && state.process',
    caughtBy: { by: "exploration" },
  },
  {
    name: "silence ends a stop",
    file: stopRows,
    from: 'if (timer === "silence" && intent.goal === "passivate" && !intent.force)',
    to: 'if (timer === "silence")',
    caughtBy: { by: "exploration" },
  },
  {
    name: "a lost channel is a lost worker",
    file: serveRows,
    from: 'move({ name: "reconnecting", process, launches, due: null }, { type: "connect", process }),',
    to: "recover({ process, launches }, null),",
    caughtBy: { by: "exploration" },
  },
  {
    name: "a start that does not come is launched again at once",
    file: launchRows,
    from: "? beginStop(state, replaceIntent(fresh), { now, channel: false })",
    to: "? launch(fresh, state.launches)",
    caughtBy: { by: "exploration" },
  },
  {
    name: "an overtaken spawn is let through its gate",
    file: stopRows,
    from: '{ type: "discard", process },',
    to: '{ type: "open_gate", process },',
    caughtBy: { by: "exploration" },
  },
  {
    name: "a recovery is settled and nobody waits",
    file: launchRows,
    from: 'state.phase === "settling" ? waitOrFail(state, fresh, now) : ignore("it is settled already"),',
    to: 'ignore("it is settled already"),',
    caughtBy: { by: "exploration" },
  },
  {
    name: "a stop of a recovery is lost with its settling",
    file: launchRows,
    from: 'intent.goal === "passivate" ? deny("session_busy", "the session is recovering") : finalize(state, intent, now),',
    to: 'intent.goal === "passivate" ? deny("session_busy", "the session is recovering") : ignore("it ends by itself"),',
    caughtBy: { by: "simulation", seed: 9 },
  },
  {
    name: "effects run before their state is durable",
    file: registry,
    from: "    registration.outbox = registration.outbox.then(async () => {\n      const { state, request } = next;",
    to: "    for (const effect of next.effects) this.#ports.run(step.stamp, effect);\n    registration.outbox = registration.outbox.then(async () => {\n      const { state, request } = next;",
    caughtBy: { by: "simulation", seed: 1 },
  },
  {
    name: "a refused write is dropped",
    file: registry,
    from: "if (isOvertaken && isEnding(registration.state)) return false;",
    to: "if (isEnding(registration.state) || !isOvertaken) return false;",
    caughtBy: { by: "simulation", seed: 47 },
  },
  {
    name: "a journal is settled that a living worker writes",
    file: watch,
    from: 'if (verdict.kind !== "gone" && verdict.kind !== "replaced") return false;',
    to: 'if (verdict.kind === "current") return false;',
    caughtBy: { by: "simulation", seed: 64 },
  },
  {
    name: "what a worker left is not ended",
    file: ender,
    from: "const left = await this.#sweep(process, false);",
    to: "const left: readonly RetainedProcess[] = [];",
    caughtBy: { by: "simulation", seed: 37 },
  },
  {
    name: "a boot launches beside a worker that may live",
    file: "daemon-supervisor/src/lifecycle/boot.ts",
    from: 'fires: (f) => withProcess(f) && !ending(f) && f.verdict !== "gone",\n    decision: "reconnect",',
    to: 'fires: (f) => withProcess(f) && !ending(f) && f.verdict !== "gone",\n    decision: "recover",',
    caughtBy: { by: "simulation", seed: 3 },
  },
  {
    name: "a boot forgets a stop",
    file: "daemon-supervisor/src/lifecycle/boot.ts",
    from: 'const ending = ({ intent, wanted }: Found): boolean => intent !== null || wanted !== "running";',
    to: "const ending = ({ intent }: Found): boolean => intent !== null && false;",
    caughtBy: { by: "simulation", seed: 45 },
  },
  {
    name: "an owner that lives is taken for gone",
    file: "daemon-supervisor/src/ownership/judge.ts",
    from: 'return { kind: "alive", record };',
    to: 'return { kind: "free", why: "gone" };',
    caughtBy: { by: "simulation", seed: 87 },
  },
  {
    name: "a creation that is asked for again is made again",
    file: "daemon-supervisor/src/server/create.ts",
    from: "    if (made) {",
    to: "    if (made && made.sessionId === params.name) {",
    caughtBy: { by: "simulation", seed: 2 },
  },
  {
    name: "a request that is remembered is admitted again",
    file: "session-worker/src/transport/session-store.ts",
    from: "if (remembered) return remembered.hash === hash",
    to: "if (remembered && remembered.hash !== hash) return remembered.hash === hash",
    caughtBy: { by: "simulation", seed: 4 },
  },
  {
    name: "a turn begins before its dispatch is durable",
    file: "session-worker/src/worker/session.ts",
    from: "    if (!(await this.#dispatch(actionId))) {",
    to: "    if (false) {",
    caughtBy: { by: "simulation", seed: 84 },
  },
  {
    name: "a descriptor goes with the intent of its stop",
    file: "daemon-supervisor/src/lifecycle/durable.ts",
    from: 'descriptor: process ? { lifecycle: "ready", process, launches, stop: intent } : "keep"',
    to: 'descriptor: "none"',
    caughtBy: { by: "simulation", seed: 2 },
  },
  {
    name: "a line of the index is believed whatever became of the record",
    file: "daemon-supervisor/src/catalog.ts",
    from: "isResting(row) && fits(row, stampsOf(fs, home, sessionId))",
    to: "isResting(row)",
    caughtBy: { by: "simulation", seed: 326 },
  },
];
