import type { Effect, Event, EventType, Fresh, Goal, State, StateName, StopIntent, WorkerProcess } from "./state.ts";

/** One of everything, for tests that enumerate. */
export const processOf = (generation: string): WorkerProcess => ({
  generation,
  identity: {
    machineId: "m",
    bootId: "b",
    pid: 4242,
    pidNamespace: "p",
    timeNamespace: "t",
    startTicks: "1",
    pidfsInode: null,
  },
  socketPath: `/run/${generation}.sock`,
  token: "token",
  marker: "marker",
  lifelinePath: null,
  cgroupPath: null,
  protocol: 1,
});

export const freshOf = (generation: string, missingEnvironment: readonly string[] = []): Fresh => ({
  generation,
  stopId: `stop-${generation}`,
  at: "2026-01-01T00:00:00.000Z",
  bootId: "b",
  missingEnvironment,
});

export const intentOf = (goal: Goal, stopId = "s", force = false): StopIntent => ({
  stopId,
  requestedAt: "2026-01-01T00:00:00.000Z",
  goal,
  force,
});

const process = processOf("g");
const launches = [{ bootId: "b", at: 1 }];
const goals = ["stop", "archive", "passivate", "replace"] as const;

/** Every shape a state can have, with generation `g` and stop `s`. */
export const sampleStates: { readonly [N in StateName]: readonly Extract<State, { name: N }>[] } = {
  launching: [{ name: "launching", generation: "g", launches, due: null }],
  starting: [
    { name: "starting", process, launches, failure: null, due: { timer: "start_deadline", at: 10 } },
    {
      name: "starting",
      process,
      launches,
      failure: { terminal: true, reason: "directory missing" },
      due: { timer: "kill", at: 10 },
    },
  ],
  ready: [{ name: "ready", process, launches, due: null }],
  reconnecting: [{ name: "reconnecting", process, launches, due: null }],
  recovering: [
    { name: "recovering", process, launches, phase: "settling", terminal: null, cause: null, due: null },
    {
      name: "recovering",
      process,
      launches,
      phase: "settling",
      terminal: "gone",
      cause: null,
      due: { timer: "settle", at: 10 },
    },
    {
      name: "recovering",
      process,
      launches,
      phase: "waiting",
      terminal: null,
      cause: null,
      due: { timer: "relaunch", at: 10 },
    },
    {
      name: "recovering",
      process: null,
      launches,
      phase: "waiting",
      terminal: null,
      cause: null,
      due: { timer: "relaunch", at: 10 },
    },
  ],
  stopping: goals.flatMap((goal) => [
    ...(["asked", "granted", "terminated", "killing"] as const).map((phase) => ({
      name: "stopping" as const,
      process,
      generation: "g",
      launches,
      intent: intentOf(goal),
      phase,
      graceEndsAt: phase === "granted" ? 10 : null,
      since: 0,
      due: { timer: phase === "asked" ? ("silence" as const) : ("kill" as const), at: 10 },
    })),
    {
      name: "stopping",
      process: null,
      generation: "g",
      launches,
      intent: intentOf(goal),
      phase: "spawning",
      graceEndsAt: null,
      since: 0,
      due: null,
    },
  ]),
  finalizing: goals.flatMap((goal) => [
    { name: "finalizing" as const, process, launches, intent: intentOf(goal), since: 0, problem: null, due: null },
    {
      name: "finalizing" as const,
      process,
      launches,
      intent: intentOf(goal),
      since: 0,
      problem: "disk",
      due: { timer: "finalize" as const, at: 10 },
    },
  ]),
  failed: [
    { name: "failed", process, launches, reason: "budget", code: "session_failed", due: null },
    { name: "failed", process: null, launches, reason: "budget", code: "session_failed", due: null },
  ],
  passivated: [{ name: "passivated", due: null }],
};

/** Events that fit generation `g` and stop `s`; `due` fits the state it is given. */
export const sampleEvents: { readonly [T in EventType]: (state: State) => readonly Extract<Event, { type: T }>[] } = {
  spawned: () => [{ type: "spawned", generation: "g", process }],
  spawn_failed: () =>
    [true, false].map((terminal) => ({
      type: "spawn_failed" as const,
      generation: "g",
      terminal,
      reason: "no",
      code: terminal ? null : ("too_many_open_files" as const),
      fresh: freshOf("f"),
    })),
  hello: () =>
    (["serving", "blank"] as const).flatMap((phase) =>
      [[], ["KEY"]].map((missing) => ({
        type: "hello" as const,
        generation: "g",
        phase,
        fresh: freshOf("f", missing),
      })),
    ),
  serving: () => [{ type: "serving", generation: "g" }],
  start_failed: () => [{ type: "start_failed", generation: "g", terminal: true, reason: "no" }],
  channel_closed: () => [{ type: "channel_closed", generation: "g" }],
  process_gone: () =>
    (["gone", "asserted"] as const).map((how) => ({ type: "process_gone" as const, generation: "g", how })),
  settled: () =>
    [[], ["KEY"]].map((missing) => ({ type: "settled" as const, generation: "g", fresh: freshOf("f", missing) })),
  settle_failed: () =>
    [true, false].map((terminal) => ({ type: "settle_failed" as const, generation: "g", terminal, reason: "no" })),
  due: (state) => (state.due ? [{ type: "due", timer: state.due.timer, at: state.due.at, fresh: freshOf("f") }] : []),
  stop: () =>
    goals.flatMap((goal) =>
      [true, false].map((force) => ({ type: "stop" as const, intent: intentOf(goal, "other", force) })),
    ),
  resume: () =>
    (["resume", "retry"] as const).flatMap((by) =>
      [[], ["KEY"]].map((missing) => ({ type: "resume" as const, by, fresh: freshOf("f", missing) })),
    ),
  acknowledged: () => [{ type: "acknowledged", stopId: "s", graceMs: 1_000 }],
  progress: () => [{ type: "progress", generation: "g" }],
  busy: () => [{ type: "busy", stopId: "s", why: "working" }],
  signalled: () => [{ type: "signalled", stopId: "s", signal: "SIGKILL", sent: false }],
  finalized: () =>
    [[], ["KEY"]].map((missing) => ({ type: "finalized" as const, stopId: "s", fresh: freshOf("f", missing) })),
  finalize_failed: () => [{ type: "finalize_failed", stopId: "s", reason: "disk" }],
  closing: () => [{ type: "closing", generation: "g", reason: "SIGTERM", intent: intentOf("passivate", "c") }],
};

export const signalsOf = (effects: readonly Effect[]): string[] =>
  effects.flatMap((effect) => (effect.type === "signal" ? [effect.signal] : []));
