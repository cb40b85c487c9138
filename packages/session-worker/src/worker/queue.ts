import type { ActionKind, SteerOutcome } from "@holdfast/client/protocol";

/**
 * The action queue of a session, pure: one turn at a time, first come first served, a `steer --interrupt` ahead of the rest.
 *
 *     waiting ──start──▶ dispatching ──started──▶ running ──ended──▶ settling ──settled──▶ (next)
 *        ▲                   │
 *        └──dispatch_failed──┘   nothing was sent: it waits again, until `retry`
 */
export interface Entry {
  readonly actionId: string;
  readonly kind: ActionKind;
  readonly text: string;
}

export type Turn =
  | { readonly phase: "dispatching"; readonly entry: Entry; readonly cancelled: boolean }
  | { readonly phase: "running"; readonly entry: Entry }
  | { readonly phase: "settling"; readonly entry: Entry };

export interface QueueState {
  readonly waiting: readonly Entry[];
  readonly turn: Turn | null;
  /** `held`: the disk did not take a dispatch. `closed`: the worker stops, nothing starts any more. */
  readonly gate: "open" | "held" | "closed";
}

export type QueueEvent =
  | { readonly type: "restored"; readonly entries: readonly Entry[] }
  | { readonly type: "admitted"; readonly entry: Entry; readonly interrupt: boolean }
  /** A steer that found its turn gone: it becomes a turn of its own. */
  | { readonly type: "inject_failed"; readonly entry: Entry }
  | { readonly type: "started"; readonly actionId: string }
  | { readonly type: "dispatch_failed"; readonly actionId: string }
  | { readonly type: "ended"; readonly actionId: string }
  | { readonly type: "settled"; readonly actionId: string }
  | { readonly type: "cancel"; readonly actionId?: string }
  | { readonly type: "retry" }
  | { readonly type: "close" };

export type QueueEffect =
  /** Dispatch durably, then hand to the agent. */
  | { readonly type: "start"; readonly entry: Entry }
  | { readonly type: "cancel_turn"; readonly actionId: string }
  /** Dispatch durably, then give to the running turn. */
  | { readonly type: "inject"; readonly entry: Entry; readonly into: string }
  | { readonly type: "steered"; readonly entry: Entry; readonly outcome: SteerOutcome }
  /** Settle a waiting action as cancelled. */
  | { readonly type: "drop"; readonly entry: Entry };

export interface Step {
  readonly state: QueueState;
  readonly effects: readonly QueueEffect[];
}

export const emptyQueue: QueueState = { waiting: [], turn: null, gate: "open" };

export const isIdle = ({ waiting, turn }: QueueState): boolean => waiting.length === 0 && turn === null;

type Rule<T extends QueueEvent["type"]> = (state: QueueState, event: Extract<QueueEvent, { type: T }>) => Step;

/** Events about an action that is not the turn's, or not in that phase, are late news and change nothing (I62). */
const rules: { readonly [T in QueueEvent["type"]]: Rule<T> } = {
  // Before anything new, in their order (I161).
  restored: (state, { entries }) => next({ ...state, waiting: [...entries, ...state.waiting] }),
  admitted: (state, { entry, interrupt }) => admit(state, entry, interrupt),
  inject_failed: (state, { entry }) =>
    next({ ...state, waiting: [...state.waiting, entry] }, [steered(entry, "queued")]),
  started: (state, { actionId }) => {
    const turn = turnIn(state, "dispatching", actionId);
    if (!turn) return same(state);
    const unwanted = turn.cancelled || state.gate === "closed";
    const running = { ...state, turn: { phase: "running", entry: turn.entry } } as const;
    return { state: running, effects: unwanted ? [cancelTurn(turn.entry)] : [] };
  },
  dispatch_failed: (state, { actionId }) => {
    const turn = turnIn(state, "dispatching", actionId);
    if (!turn) return same(state);
    // A user's cancel took effect before anything was sent.
    if (turn.cancelled) return next({ ...state, turn: null }, [{ type: "drop", entry: turn.entry }]);
    const gate = state.gate === "closed" ? "closed" : "held";
    return same({ waiting: [turn.entry, ...state.waiting], turn: null, gate });
  },
  ended: (state, { actionId }) => {
    const turn = turnIn(state, "running", actionId);
    return same(turn ? { ...state, turn: { phase: "settling", entry: turn.entry } } : state);
  },
  settled: (state, { actionId }) =>
    turnIn(state, "settling", actionId) ? next({ ...state, turn: null }) : same(state),
  cancel: (state, { actionId }) => cancel(state, actionId),
  retry: (state) => (state.gate === "held" ? next({ ...state, gate: "open" }) : same(state)),
  close: (state) => ({
    state: { ...state, gate: "closed" },
    effects: state.turn?.phase === "running" ? [cancelTurn(state.turn.entry)] : [],
  }),
};

export function reduce<T extends QueueEvent["type"]>(
  state: QueueState,
  event: Extract<QueueEvent, { type: T }> & { readonly type: T },
): Step {
  return rules[event.type](state, event);
}

function turnIn<P extends Turn["phase"]>(
  { turn }: QueueState,
  phase: P,
  actionId: string,
): Extract<Turn, { phase: P }> | null {
  const isIn = (candidate: Turn): candidate is Extract<Turn, { phase: P }> => candidate.phase === phase;
  return turn && isIn(turn) && turn.entry.actionId === actionId ? turn : null;
}

function admit(state: QueueState, entry: Entry, interrupt: boolean): Step {
  const { waiting, turn } = state;
  if (entry.kind !== "steer") return next({ ...state, waiting: [...waiting, entry] });
  // A turn that ended and is only being recorded takes nothing more.
  const reachable = turn && turn.phase !== "settling" && state.gate !== "closed" ? turn : null;
  if (!reachable) return next({ ...state, waiting: [...waiting, entry] }, [steered(entry, "queued")]);
  if (!interrupt) return { state, effects: [{ type: "inject", entry, into: reachable.entry.actionId }] };
  const { state: cancelling, effects } = cancel({ ...state, waiting: [entry, ...waiting] }, reachable.entry.actionId);
  return { state: cancelling, effects: [steered(entry, "interrupted"), ...effects] };
}

function cancel(state: QueueState, actionId: string | undefined): Step {
  const { waiting, turn } = state;
  const waits = waiting.find((entry) => entry.actionId === actionId);
  if (waits) {
    const rest = waiting.filter((entry) => entry !== waits);
    return { state: { ...state, waiting: rest }, effects: [{ type: "drop", entry: waits }] };
  }
  // Without a turn, or for an action that is over, there is nothing to end: that is no error.
  if (!turn || (actionId !== undefined && turn.entry.actionId !== actionId)) return same(state);
  if (turn.phase === "dispatching") return same({ ...state, turn: { ...turn, cancelled: true } });
  // A turn that is settling has ended by itself.
  return { state, effects: turn.phase === "running" ? [cancelTurn(turn.entry)] : [] };
}

/** Starts the first waiting action if nothing runs. */
function next(state: QueueState, before: readonly QueueEffect[] = []): Step {
  const [entry, ...waiting] = state.waiting;
  if (!entry || state.turn || state.gate !== "open") return { state, effects: before };
  return {
    state: { ...state, waiting, turn: { phase: "dispatching", entry, cancelled: false } },
    effects: [...before, { type: "start", entry }],
  };
}

const same = (state: QueueState): Step => ({ state, effects: [] });
const cancelTurn = ({ actionId }: Entry): QueueEffect => ({ type: "cancel_turn", actionId });
const steered = (entry: Entry, outcome: SteerOutcome): QueueEffect => ({ type: "steered", entry, outcome });
