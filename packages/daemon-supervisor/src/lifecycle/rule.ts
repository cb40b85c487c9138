import type { ErrorCode } from "@holdfast/client/protocol";
import type { Decision, Effect, Event, EventType, EventTyped, Millis, State, StateName, StateNamed } from "./state.ts";

/** One cell: what an event does in a state. A missing cell does not compile. */
export type Rule<S extends State, E extends Event> =
  | ((state: S, event: E, now: Millis) => Decision)
  | { readonly ignore: string }
  | { readonly deny: ErrorCode; readonly why: string }
  | { readonly impossible: string };

export type Row<N extends StateName> = { readonly [T in EventType]: Rule<StateNamed<N>, EventTyped<T>> };

export const move = (state: State, ...effects: readonly Effect[]): Decision => ({ kind: "move", state, effects });
export const ignore = (why: string): Decision => ({ kind: "ignore", why });
export const deny = (code: ErrorCode, why: string): Decision => ({ kind: "deny", code, why });

/** Reasons that recur, so that a table reads as a table. */
export const late = { ignore: "late: the state has moved on" } as const;
export const notAsked = { impossible: "nothing was asked that could answer so" } as const;
export const notStopping = { impossible: "answers to a stop are fenced by its stopId, and there is none" } as const;
export const noSpawn = { impossible: "no spawn is in flight for this generation" } as const;
export const noSettle = { impossible: "no settling is in flight for this generation" } as const;
export const noTimer = { impossible: "this state sets no timer, and timers end with their state" } as const;
export const noProcess = { impossible: "there is no process of this generation" } as const;
