import type { ErrorCode } from "@holdfast/client/protocol";
import type { ProcessIdentity } from "@holdfast/shared-process";

/** Milliseconds of a clock that counts from boot and never jumps. */
export type Millis = number;

/** One launched worker, as its descriptor names it. */
export interface WorkerProcess {
  readonly generation: string;
  readonly identity: ProcessIdentity;
  readonly socketPath: string;
  /** Proves to the worker that the supervisor may speak to it. */
  readonly token: string;
  /** Value of `HOLDFAST_SESSION` in everything the worker's agents start: found by it, without authority. */
  readonly marker: string;
  readonly lifelinePath: string | null;
  /** Directory of the cgroup of the worker and all that it starts; `null` where none could be made. */
  readonly cgroupPath: string | null;
  /** Version of the private transport that it speaks; `null`: none of ours, as a record of an older form names it. */
  readonly protocol: number | null;
  /** A person has said that it is gone. Believed only while nothing can be seen of it (I164). */
  readonly assertedGone?: boolean | undefined;
}

/** The weakest first: of two that meet, the stronger counts. */
export const goals = ["passivate", "replace", "stop", "archive"] as const;
export type Goal = (typeof goals)[number];
export const isStronger = (goal: Goal, than: Goal): boolean => goals.indexOf(goal) > goals.indexOf(than);
export const isGoal = (text: string): text is Goal => goals.some((goal) => goal === text);

/** Durable before any signal; a changed goal makes a new `stopId` (I6). */
export interface StopIntent {
  readonly stopId: string;
  /** RFC 3339. */
  readonly requestedAt: string;
  readonly goal: Goal;
  readonly force: boolean;
}

/** When a recovery was launched, comparable across supervisors of one boot. */
export interface LaunchTime {
  readonly bootId: string | null;
  readonly at: Millis;
}

export interface ResourceCause {
  readonly code: Extract<ErrorCode, "too_many_open_files">;
  readonly reason: string;
}

export type TimerName = "start_deadline" | "relaunch" | "settle" | "silence" | "kill" | "finalize";

/** The one timer a state waits for; set and cancelled with the state, so a stale timer cannot exist. */
export interface Due<T extends TimerName = TimerName> {
  readonly timer: T;
  readonly at: Millis;
}

interface Launched {
  readonly process: WorkerProcess;
  /** Recovery launches inside the budget's window, oldest first. */
  readonly launches: readonly LaunchTime[];
}

export type State =
  | {
      readonly name: "launching";
      readonly generation: string;
      readonly launches: readonly LaunchTime[];
      readonly due: null;
    }
  | ({
      readonly name: "starting";
      /** The worker said that it cannot start; it is being ended. */
      readonly failure: { readonly terminal: boolean; readonly reason: string } | null;
      readonly due: Due<"start_deadline" | "kill">;
    } & Launched)
  | ({ readonly name: "ready"; readonly due: null } & Launched)
  | ({ readonly name: "reconnecting"; readonly due: null } & Launched)
  | {
      readonly name: "recovering";
      /** The last worker, proven gone; `null` when nothing of it is left to settle. */
      readonly process: WorkerProcess | null;
      readonly launches: readonly LaunchTime[];
      /** `settling`: its tree is being ended and its journal settled. `waiting`: for the relaunch. */
      readonly phase: "settling" | "waiting";
      /** A predecessor was in it already: its wait for the relaunch goes on. */
      readonly inherited?: boolean;
      /** A cause that no relaunch can mend. */
      readonly terminal: string | null;
      /** Why its settling failed last; it is tried again. */
      readonly problem?: string;
      /** A resource that was used up: tried again without spending the budget, since it returns by itself (I155). */
      readonly cause: ResourceCause | null;
      readonly due: Due<"relaunch" | "settle"> | null;
    }
  | {
      readonly name: "stopping";
      /** `null` while the spawn that the stop overtook has not answered. */
      readonly process: WorkerProcess | null;
      readonly generation: string;
      readonly launches: readonly LaunchTime[];
      readonly intent: StopIntent;
      /** `asked` over the channel; `granted` a grace; `terminated`: SIGTERM was due; `killing`: SIGKILL was due. */
      readonly phase: "spawning" | "asked" | "granted" | "terminated" | "killing";
      /** When a granted grace is used up, counted from the first request and never renewed; `null` without one. */
      readonly graceEndsAt: Millis | null;
      /** When this process was first asked to end: a stop that takes long is shown as degraded. */
      readonly since: Millis;
      readonly due: Due<"silence" | "kill"> | null;
    }
  | {
      readonly name: "finalizing";
      readonly process: WorkerProcess | null;
      readonly launches: readonly LaunchTime[];
      readonly intent: StopIntent;
      readonly since: Millis;
      /** Why the last clean-up failed. */
      readonly problem: string | null;
      readonly due: Due<"finalize"> | null;
    }
  | {
      readonly name: "failed";
      readonly process: WorkerProcess | null;
      readonly launches: readonly LaunchTime[];
      readonly reason: string;
      readonly code: Extract<ErrorCode, "session_failed" | "needs_fresh_environment">;
      readonly due: null;
    }
  | { readonly name: "passivated"; readonly due: null };

export type StateName = State["name"];
export type StateNamed<N extends StateName> = Extract<State, { name: N }>;

export const stateNames = [
  "launching",
  "starting",
  "ready",
  "reconnecting",
  "recovering",
  "stopping",
  "finalizing",
  "failed",
  "passivated",
] as const satisfies readonly StateName[];

/** Everything that happens to a registration. Those with a generation or a stopId are dropped when it is not the state's (I62). */
export type Event =
  | { readonly type: "spawned"; readonly generation: string; readonly process: WorkerProcess }
  | {
      readonly type: "spawn_failed";
      readonly generation: string;
      readonly terminal: boolean;
      readonly reason: string;
      readonly code: ResourceCause["code"] | null;
      readonly fresh: Fresh;
    }
  | {
      readonly type: "hello";
      readonly generation: string;
      readonly phase: "serving" | "blank";
      readonly fresh: Fresh;
    }
  | { readonly type: "serving"; readonly generation: string }
  | { readonly type: "start_failed"; readonly generation: string; readonly terminal: boolean; readonly reason: string }
  | { readonly type: "channel_closed"; readonly generation: string }
  | { readonly type: "process_gone"; readonly generation: string; readonly how: "gone" | "replaced" | "asserted" }
  | { readonly type: "settled"; readonly generation: string; readonly fresh: Fresh }
  | { readonly type: "settle_failed"; readonly generation: string; readonly terminal: boolean; readonly reason: string }
  | { readonly type: "due"; readonly timer: TimerName; readonly at: Millis; readonly fresh: Fresh }
  | { readonly type: "stop"; readonly intent: StopIntent }
  /** `retry` is an operator's: it recovers now, and leaves alone what does not have to be recovered. */
  | { readonly type: "resume"; readonly by: "resume" | "retry"; readonly fresh: Fresh }
  | { readonly type: "acknowledged"; readonly stopId: string; readonly graceMs: number }
  /** The worker says, each second, that its end is under way. */
  | { readonly type: "progress"; readonly generation: string }
  | { readonly type: "busy"; readonly stopId: string; readonly why: string }
  | {
      readonly type: "signalled";
      readonly stopId: string;
      readonly signal: "SIGTERM" | "SIGKILL";
      readonly sent: boolean;
    }
  | { readonly type: "finalized"; readonly stopId: string; readonly fresh: Fresh }
  | { readonly type: "finalize_failed"; readonly stopId: string; readonly reason: string }
  | { readonly type: "closing"; readonly generation: string; readonly reason: string; readonly intent: StopIntent };

export type EventType = Event["type"];
export type EventTyped<T extends EventType> = Extract<Event, { type: T }>;

/** Values that pure code must not make: minted at the edge, used only if the rule needs them. */
export interface Fresh {
  readonly generation: string;
  readonly stopId: string;
  /** RFC 3339. */
  readonly at: string;
  readonly bootId: string | null;
  /** Names of environment values that are neither stored nor in memory: without them nothing is launched (I59). */
  readonly missingEnvironment: readonly string[];
}

/** What to do once the new record is durable and published. Values, stamped by the outbox. */
export type Effect =
  | { readonly type: "spawn"; readonly generation: string }
  | { readonly type: "open_gate"; readonly process: WorkerProcess }
  /** Closes the gate unopened: the child exits by itself. */
  | { readonly type: "discard"; readonly process: WorkerProcess }
  /** Connects and authenticates until it works or the state no longer wants it; also watches the process meanwhile. */
  | { readonly type: "connect"; readonly process: WorkerProcess }
  | { readonly type: "start_worker"; readonly process: WorkerProcess }
  | { readonly type: "ask_stop"; readonly process: WorkerProcess; readonly intent: StopIntent }
  | {
      readonly type: "signal";
      readonly process: WorkerProcess;
      readonly signal: "SIGTERM" | "SIGKILL";
      readonly stopId: string;
    }
  /** Reports `process_gone` as soon as the verdict says so. */
  | { readonly type: "watch"; readonly process: WorkerProcess }
  | { readonly type: "settle"; readonly process: WorkerProcess }
  | { readonly type: "finalize"; readonly process: WorkerProcess | null; readonly intent: StopIntent };

export type Decision =
  | { readonly kind: "move"; readonly state: State; readonly effects: readonly Effect[] }
  /** The registration ends; its descriptor goes. */
  | { readonly kind: "remove" }
  | { readonly kind: "ignore"; readonly why: string }
  | { readonly kind: "deny"; readonly code: ErrorCode; readonly why: string };
