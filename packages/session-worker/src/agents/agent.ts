import type { EventBody, StopReason } from "@holdfast/client/protocol";

/** How a turn ended. `cwd` goes into the transcript, so that a restored agent can start there. */
export interface TurnEnd {
  readonly stopReason: StopReason;
  readonly exitCode?: number;
  readonly cwd?: string;
}

/** What an agent tells the session. */
export interface AgentHost {
  /** Resolves once the transcript has it; the agent reads no more of its program meanwhile (I149). */
  record(events: readonly EventBody[]): Promise<void>;
  /** Exactly once per `run`, after all of the turn's output was recorded. */
  ended(turnId: string, end: TurnEnd): void;
}

export type AgentStart =
  | { readonly kind: "started" }
  /** Terminal causes are not retried. */
  | { readonly kind: "failed"; readonly terminal: boolean; readonly reason: string };

export interface Agent {
  start(from: AgentOrigin): Promise<AgentStart>;
  /** Begins a turn; there is at most one. */
  run(turnId: string, text: string): void;
  /** Hands text to the running turn. False: that turn is over and nothing was handed over. */
  inject(turnId: string, text: string): boolean;
  /** Asks the turn to end; a second call does not ask. */
  cancel(turnId: string): void;
  /** Ends the agent's own process, politely for `graceMs`. Resolves when it is gone. Turns end as they come. */
  end(graceMs: number): Promise<void>;
  readonly pid: number | null;
}

export interface AgentOrigin {
  /** False for the first launch of a session. */
  readonly restored: boolean;
  /** The working directory at the last turn's end, if there was one. */
  readonly lastDirectory: string | null;
}
