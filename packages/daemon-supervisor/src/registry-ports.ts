import type { Clock } from "@holdfast/shared-process";
import type { Stamp } from "./lifecycle/answers.ts";
import type { Reduced } from "./lifecycle/reduce.ts";
import type { Effect, Event, Fresh, State } from "./lifecycle/state.ts";

export interface RegistryPorts {
  readonly clock: Clock;
  /** Makes a state's records durable, and with them the request that asked for it. Rejects while the disk refuses. */
  readonly persist: (sessionId: string, next: Persisted) => Promise<void>;
  /** Runs one effect; whatever comes of it returns under its stamp. */
  readonly run: (stamp: Stamp, effect: Effect) => void;
  readonly fresh: (sessionId: string) => Fresh;
  readonly onPublished: (sessionId: string, state: State | null) => void;
  readonly onProblem: (sessionId: string, message: string) => void;
  readonly onDecision: (decided: Decided) => void;
}

/** One step of a registration. */
export interface Decided {
  readonly sessionId: string;
  readonly before: State;
  readonly event: Event;
  readonly decision: Reduced;
}

/** A client's request, as it is kept where it takes effect (I143). */
export interface RequestStamp {
  readonly requestId: string;
  /** SHA-256 (hex) over method and content. */
  readonly hash: string;
  /** Names of values that it brought, which the session needs from now on (I59). */
  readonly secretNames?: readonly string[];
}

/** `state` is `null` when the registration ends: its descriptor goes. `last` is the state in memory when that was decided. */
export interface Persisted {
  readonly state: State | null;
  readonly last: State;
  readonly request: RequestStamp | null;
}
