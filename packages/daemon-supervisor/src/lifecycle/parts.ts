import { relaunchAt, withinWindow } from "./budget.ts";
import { deny, move } from "./rule.ts";
import { isStronger } from "./state.ts";
import type {
  Decision,
  Due,
  EventTyped,
  Fresh,
  LaunchTime,
  Millis,
  StateNamed,
  StopIntent,
  WorkerProcess,
} from "./state.ts";
import { FORCED_KILL_MS, PASSIVATE_SILENCE_MS, SILENCE_MS, SILENT_KILL_MS, START_DEADLINE_MS } from "./times.ts";

interface Running {
  readonly process: WorkerProcess;
  readonly launches: readonly LaunchTime[];
}

/** The first step of every stop: ask where a channel answers, else SIGTERM; always watch. */
export function beginStop(running: Running, intent: StopIntent, at: { now: Millis; channel: boolean }): Decision {
  const { process, launches } = running;
  const { generation } = process;
  const base = {
    name: "stopping",
    process,
    generation,
    launches,
    intent,
    graceEndsAt: null,
    since: at.now,
  } as const;
  const watch = { type: "watch", process } as const;
  const terminate = { type: "signal", process, signal: "SIGTERM", stopId: intent.stopId } as const;
  if (intent.force) {
    const due = { timer: "kill", at: at.now + FORCED_KILL_MS } as const;
    return move({ ...base, phase: "terminated", due }, terminate, watch);
  }
  if (!at.channel) {
    const due = { timer: "kill", at: at.now + SILENT_KILL_MS } as const;
    return move({ ...base, phase: "terminated", due }, terminate, watch);
  }
  return move(
    { ...base, phase: "asked", due: answerDue(intent, at.now) },
    { type: "ask_stop", process, intent },
    watch,
  );
}

/** When no answer to a stop counts as silence. */
export const answerDue = ({ goal, force }: StopIntent, now: Millis): Due<"silence"> => ({
  timer: "silence",
  at: now + (goal === "passivate" && !force ? PASSIVATE_SILENCE_MS : SILENCE_MS),
});

/** From the SIGTERM to a silent worker to its SIGKILL. */
export const killDelay = ({ force }: StopIntent): Millis => (force ? FORCED_KILL_MS : SILENT_KILL_MS - SILENCE_MS);

export const replaceIntent = (fresh: Fresh): StopIntent => ({
  stopId: fresh.stopId,
  requestedAt: fresh.at,
  goal: "replace",
  force: false,
});

export const launch = (fresh: Fresh, launches: readonly LaunchTime[]): Decision =>
  move(
    { name: "launching", generation: fresh.generation, launches, due: null },
    { type: "spawn", generation: fresh.generation },
  );

/** Of a process that is gone: a person's word goes into the records, so that the next supervisor need not be told again. */
export const ended = <R extends { readonly process: WorkerProcess | null }>(
  running: R,
  { how }: EventTyped<"process_gone">,
): R =>
  how === "asserted" && running.process ? { ...running, process: { ...running.process, assertedGone: true } } : running;

/** The worker is proven gone: end what it left, settle its journal, then see. */
export const recover = ({ process, launches }: Running, terminal: string | null): Decision =>
  move(
    { name: "recovering", process, launches, phase: "settling", terminal, cause: null, due: null },
    { type: "settle", process },
  );

/** What is left of an end whose process is gone, or never was. */
export const finalize = (
  { process, launches }: { readonly process: WorkerProcess | null; readonly launches: readonly LaunchTime[] },
  intent: StopIntent,
  since: Millis,
): Decision =>
  move(
    { name: "finalizing", process, launches, intent, since, problem: null, due: null },
    { type: "finalize", process, intent },
  );

interface Next {
  readonly process: WorkerProcess | null;
  readonly launches: readonly LaunchTime[];
  readonly terminal: string | null;
  readonly inherited?: boolean;
  /** What went wrong last, for the reason of a session that is given up. */
  readonly why?: string;
}

/** After settling, or after a launch that left nothing behind: wait for the relaunch, or fail for a reason. */
export function waitOrFail(next: Next, fresh: Pick<Fresh, "bootId" | "missingEnvironment">, now: Millis): Decision {
  const { process, terminal } = next;
  const launches = withinWindow(next.launches, { at: now, bootId: fresh.bootId });
  const fail = (reason: string, code: StateNamed<"failed">["code"] = "session_failed"): Decision =>
    move({ name: "failed", process, launches, reason, code, due: null });
  if (terminal !== null) return fail(terminal);
  if (fresh.missingEnvironment.length > 0)
    return fail(environmentReason(fresh.missingEnvironment), "needs_fresh_environment");
  const at = relaunchAt(launches, { now, inherited: next.inherited ?? false });
  if (at === null) {
    const last = next.why === undefined ? "" : `: ${next.why}`;
    return fail(`gave up after ${launches.length} relaunches in 5 minutes${last}`);
  }
  const due = { timer: "relaunch", at } as const;
  return move({ name: "recovering", process, launches, phase: "waiting", terminal: null, cause: null, due });
}

/** Nothing is launched without values that are never stored (I59). */
export const denyEnvironment = ({ missingEnvironment }: Pick<Fresh, "missingEnvironment">): Decision =>
  deny("needs_fresh_environment", environmentReason(missingEnvironment));

export const environmentReason = (names: readonly string[]): string =>
  `its environment held values that are not stored: ${names.join(", ")}`;

/** A worker that answers `blank` gets its session. */
export const startBlank = ({ process, launches }: Running, now: Millis): Decision =>
  move(
    {
      name: "starting",
      process,
      launches,
      failure: null,
      due: { timer: "start_deadline", at: now + START_DEADLINE_MS },
    },
    { type: "start_worker", process },
  );

export type Merge = { readonly kind: "joined" } | { readonly kind: "changed"; readonly intent: StopIntent };

/** A second stop joins the first; archive is sticky, force escalates, an explicit stop beats passivation and replacement. */
export function mergeIntents(current: StopIntent, incoming: StopIntent): Merge {
  const goal = isStronger(incoming.goal, current.goal) ? incoming.goal : current.goal;
  // A passivation by force has no say in what is more than one.
  const escalates = incoming.force && (incoming.goal !== "passivate" || goal === "passivate");
  const force = current.force || escalates;
  if (goal === current.goal && force === current.force) return { kind: "joined" };
  return { kind: "changed", intent: { ...current, stopId: incoming.stopId, goal, force } };
}
