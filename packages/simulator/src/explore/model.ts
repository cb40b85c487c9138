import type { Effect, Event, Fresh, State, StopIntent, WorkerProcess } from "@holdfast/daemon-supervisor/testing";

/** What has been asked of the world and not been answered. Ids of what was superseded stay: their answers may still come. */
export type Pending =
  | { readonly type: "spawn"; readonly generation: string }
  | { readonly type: "connect" | "start_worker" | "settle"; readonly generation: string }
  | { readonly type: "ask_stop" | "finalize"; readonly stopId: string }
  | { readonly type: "signal"; readonly stopId: string; readonly signal: "SIGTERM" | "SIGKILL" };

/** The worker that was started last, as it is and not as anybody believes it to be. */
export interface Worker {
  readonly generation: string;
  readonly life: "gated" | "alive" | "gone";
  readonly phase: "blank" | "serving";
  /** A supervisor is connected. */
  readonly channel: boolean;
  /** Its end has not been told yet. */
  readonly untold: boolean;
}

export const orders = ["stop", "force", "archive", "passivate", "resume", "retry"] as const;
export type Order = (typeof orders)[number];

/** One session with its world, at one moment. Time stands still: whatever is due may come at once, or any time later. */
export interface Model {
  /** `null`: the registration has ended. */
  readonly state: State | null;
  readonly worker: Worker | null;
  readonly pending: readonly Pending[];
  /** Orders that each of the clients may still give. */
  readonly left: readonly number[];
  /** Set by the last order that took effect. */
  readonly wanted: "running" | "stopped";
}

export interface Choice {
  readonly label: string;
  /** What the supervisor learns; `null`: it is not told. */
  readonly event: Event | null;
  readonly worker: Worker | null;
  readonly pending: readonly Pending[];
  readonly left: readonly number[];
}

const processOf = (generation: string): WorkerProcess => ({
  generation,
  identity: {
    machineId: "m",
    bootId: "b",
    pid: 100,
    pidNamespace: "p",
    timeNamespace: "t",
    startTicks: "1",
    pidfsInode: null,
  },
  socketPath: "/s",
  token: "t",
  marker: "m",
  lifelinePath: null,
  cgroupPath: null,
  protocol: 1,
});

/** One object for each generation, since a state is asserted to keep the very process that it has. */
const processes = new Map<string, WorkerProcess>();
const processFor = (generation: string): WorkerProcess => {
  const known = processes.get(generation) ?? processOf(generation);
  processes.set(generation, known);
  return known;
};

/** The first name that nobody uses: names of what is forgotten are given again, so that there are finitely many. */
function unused(prefix: string, model: Model): string {
  const text = JSON.stringify([model.state, model.worker, model.pending]);
  for (let number = 1; ; number += 1) if (!text.includes(`"${prefix}${number}"`)) return `${prefix}${number}`;
}

const freshOf = (model: Model): Fresh => ({
  generation: unused("g", model),
  stopId: unused("s", model),
  at: "",
  bootId: "b",
  missingEnvironment: [],
});

const without = (pending: readonly Pending[], one: Pending): Pending[] => pending.filter((other) => other !== one);

/** Everything that may happen next. */
export function* choices(model: Model): Generator<Choice> {
  const { worker, pending, left, state } = model;
  const same = { worker, pending, left };
  const fresh = freshOf(model);
  for (const [client, orderCount] of left.entries()) {
    if (orderCount === 0 || state === null) continue;
    const rest = left.map((count, index) => (index === client ? count - 1 : count));
    for (const order of orders)
      yield { ...same, left: rest, label: `client ${client + 1} ${order}`, event: orderEvent(order, fresh) };
  }
  if (state?.due) {
    const { timer, at } = state.due;
    yield { ...same, label: `due ${timer}`, event: { type: "due", timer, at, fresh } };
  }
  for (const one of pending) yield* answers(model, one, fresh);
  if (worker) yield* facts(model, worker, fresh);
}

function orderEvent(order: Order, fresh: Fresh): Event {
  if (order === "resume" || order === "retry") return { type: "resume", by: order, fresh };
  const goal = order === "force" ? "stop" : order;
  const intent: StopIntent = { stopId: fresh.stopId, requestedAt: "", goal, force: order === "force" };
  return { type: "stop", intent };
}

function* answers({ worker, pending, left }: Model, one: Pending, fresh: Fresh): Generator<Choice> {
  const same = { worker, pending: without(pending, one), left };
  switch (one.type) {
    case "spawn": {
      const { generation } = one;
      const process = processFor(generation);
      const gated = { generation, life: "gated", phase: "blank", channel: false, untold: false } as const;
      yield { ...same, worker: gated, label: "spawned", event: { type: "spawned", generation, process } };
      const failed = { type: "spawn_failed", generation, terminal: false, reason: "no", code: null, fresh } as const;
      yield { ...same, label: "spawn failed", event: failed };
      yield { ...same, label: "no descriptors", event: { ...failed, code: "too_many_open_files" } };
      return;
    }
    case "connect":
      if (worker?.generation !== one.generation || worker.life === "gone") {
        yield { ...same, label: "nobody to connect to", event: null };
        return;
      }
      if (worker.life !== "alive") return;
      yield {
        ...same,
        worker: { ...worker, channel: true },
        label: `hello ${worker.phase}`,
        event: { type: "hello", generation: one.generation, phase: worker.phase, fresh },
      };
      return;
    case "start_worker": {
      const { generation } = one;
      const isReached = worker?.generation === generation && worker.life === "alive" && worker.channel;
      const serving = isReached ? { ...worker, phase: "serving" as const } : worker;
      if (isReached && worker.phase === "blank")
        yield {
          ...same,
          pending,
          worker: { ...worker, phase: "serving" },
          label: "serves, and its answer is on its way",
          event: null,
        };
      // The answer of one that has ended since may still arrive.
      yield { ...same, worker: serving, label: "serving", event: { type: "serving", generation } };
      const failed = { type: "start_failed", generation, reason: "no" } as const;
      yield { ...same, label: "start failed", event: { ...failed, terminal: false } };
      yield { ...same, label: "start failed for good", event: { ...failed, terminal: true } };
      return;
    }
    case "signal": {
      const { stopId, signal } = one;
      yield { ...same, label: "signal told", event: { type: "signalled", stopId, signal, sent: true } };
      return;
    }
    case "ask_stop":
      yield { ...same, label: "acknowledged", event: { type: "acknowledged", stopId: one.stopId, graceMs: 1_000 } };
      yield { ...same, label: "busy", event: { type: "busy", stopId: one.stopId, why: "busy" } };
      return;
    case "settle": {
      const { generation } = one;
      yield { ...same, label: "settled", event: { type: "settled", generation, fresh } };
      const failed = { type: "settle_failed", generation, reason: "no" } as const;
      yield { ...same, label: "settle failed", event: { ...failed, terminal: false } };
      yield { ...same, label: "settle failed for good", event: { ...failed, terminal: true } };
      return;
    }
    case "finalize": {
      const { stopId } = one;
      yield { ...same, label: "finalized", event: { type: "finalized", stopId, fresh } };
      yield { ...same, label: "clean-up failed", event: { type: "finalize_failed", stopId, reason: "no" } };
    }
  }
}

function* facts({ pending, left }: Model, worker: Worker, fresh: Fresh): Generator<Choice> {
  const same = { worker, pending, left };
  const { generation } = worker;
  if (worker.untold)
    yield {
      ...same,
      worker: { ...worker, untold: false },
      label: "end told",
      event: { type: "process_gone", generation, how: "gone" },
    };
  // By the exit of a child and by a look.
  if (worker.life === "gone" && !worker.untold)
    yield { ...same, label: "end told again", event: { type: "process_gone", generation, how: "gone" } };
  if (worker.life !== "gone")
    yield {
      ...same,
      worker: { ...worker, life: "gone", channel: false, untold: true },
      label: "worker ends",
      event: null,
    };
  // What it has said may arrive behind its end.
  if (!worker.channel && worker.life !== "gone") return;
  const closed = { ...worker, channel: false };
  yield { ...same, worker: closed, label: "channel closed", event: { type: "channel_closed", generation } };
  yield { ...same, label: "progress", event: { type: "progress", generation } };
  const intent = { stopId: fresh.stopId, requestedAt: "", goal: "replace", force: false } as const;
  yield { ...same, label: "closing", event: { type: "closing", generation, reason: "SIGTERM", intent } };
  yield { ...same, label: "late hello", event: { type: "hello", generation, phase: worker.phase, fresh } };
}

/** What the effects of a step do to the world. */
export function applyEffects(model: Model, effects: readonly Effect[]): Model {
  let { worker, pending } = model;
  for (const effect of effects) {
    switch (effect.type) {
      case "spawn":
        pending = [...pending, { type: "spawn", generation: effect.generation }];
        break;
      case "open_gate":
        if (worker?.life === "gated") worker = { ...worker, life: "alive" };
        break;
      case "discard":
        // Its gate is shut: it ends by itself, soon or late.
        break;
      case "connect":
      case "start_worker":
      case "settle":
        pending = added(pending, { type: effect.type, generation: effect.process.generation });
        break;
      case "ask_stop":
      case "finalize":
        pending = added(pending, { type: effect.type, stopId: effect.intent.stopId });
        break;
      case "signal":
        // A SIGKILL that reaches it ends it; whether it is told comes later.
        if (effect.signal === "SIGKILL" && worker && worker.life !== "gone")
          worker = { ...worker, life: "gone", channel: false, untold: true };
        pending = added(pending, { type: "signal", stopId: effect.stopId, signal: effect.signal });
        break;
      case "watch":
        break;
    }
  }
  return { ...model, worker, pending };
}

const added = (pending: readonly Pending[], one: Pending): readonly Pending[] =>
  pending.some((other) => JSON.stringify(other) === JSON.stringify(one)) ? pending : [...pending, one];
