import type { RetainedProcesses } from "./retained.ts";
import type { ActionKind, EventBody, SessionEvent, SteerOutcome, StopReason } from "@holdfast/client/protocol";

/**
 * A session's durable files (transcript and journal) under one writer: the worker while it lives, the supervisor after the worker is
 * proven gone. Order of writes (DESIGN §4):
 *   accept    transcript line synced → journal admit synced → reply
 *   dispatch  journal note synced → first byte to the agent
 *   end       transcript synced → journal end
 */
export type OperationKind = ActionKind | "process";

export interface QueuedAction {
  readonly actionId: string;
  readonly requestId: string;
  readonly kind: ActionKind;
  readonly text: string;
  /** `dispatched`: its first byte may have reached the agent; never dispatched again. */
  readonly phase: "accepted" | "dispatched";
}

export interface Admission {
  readonly requestId: string;
  readonly hash: string;
  readonly kind: ActionKind;
  readonly text: string;
}

export type AdmitResult =
  | { readonly kind: "accepted"; readonly action: QueuedAction; readonly cursor: string }
  /** The same request came before: its first answer, whatever became of it. */
  | {
      readonly kind: "repeated";
      readonly actionId: string;
      readonly cursor: string;
      /** `null` while the action is open. */
      readonly settled: SettledAs | null;
    }
  | { readonly kind: "reused" };

export type OpenStoreResult =
  | { readonly kind: "opened"; readonly store: SessionStore }
  | { readonly kind: "owned" }
  /** `mayPass`: for a reason that may be over at the next try. */
  | { readonly kind: "refused"; readonly reason: string; readonly mayPass: boolean };

export interface SettledAs {
  readonly outcome: "ended" | "cancelled" | "interrupted";
  readonly stopReason?: StopReason;
  readonly exitCode?: number;
  readonly reason?: string;
  /** What a steer did, so that its repeat answers the same. */
  readonly steer?: SteerOutcome;
}

export interface SessionStore {
  /** Open actions in the order of their admission, dispatched ones first seen as such. */
  actions(): readonly QueuedAction[];
  /**
   * Durable when it resolves. Rejects `CodedError("disk_full")`, `("journal_poisoned")`, `("journal_full")`: it is not accepted, now or
   * later; `("admission_unknown")`: the next writer may find it accepted.
   */
  admit(admission: Admission): Promise<AdmitResult>;
  /** Remembers a request that opens no action, before its effect. `repeated`: it was remembered before. */
  once(request: { readonly requestId: string; readonly hash: string }): Promise<"first" | "repeated" | "reused">;
  /** Processes of the session that its stops could not, or were not to, end. */
  readonly retained: RetainedProcesses;
  /** Durable note that the action's first byte may reach the agent from now on. */
  dispatch(actionId: string): Promise<void>;
  /** Appends one event (not synced) and returns it stamped; a write failure throws `CodedError("disk_full")`. */
  append(event: EventBody): SessionEvent;
  /** A transcript that somebody removed or moved is written anew. Throws `CodedError("disk_full")`, `("log_lost")`: it cannot be. */
  keepName(): void;
  /** Syncs the transcript. */
  sync(): Promise<void>;
  /** Syncs the transcript, then ends the action's token. Unknown or settled actions are counted and change nothing. */
  settle(actionId: string, as: SettledAs): Promise<void>;
  /** After a crash: one visible `interrupted` marker per dispatched action, its turn's end, then exactly that token (idempotent). */
  settleInterrupted(): Promise<readonly QueuedAction[]>;
  /** A stop: `action_cancelled` lines for what was accepted, then their tokens. */
  cancelAll(reason: string): Promise<void>;
  /** Called with each appended event, after its write. */
  onEvent(listener: (event: SessionEvent, line: string) => void): Disposable;
  readonly transcriptPath: string;
  /** Bytes of whole lines in the transcript: readers in this process may read up to here. */
  readonly transcriptSize: number;
  readonly endCursor: string;
  /** Whether the journal remembers anything (open operations, requests inside their window). */
  readonly remembers: boolean;
  /** Releases the journal, closes both files. Idempotent. */
  close(): Promise<void>;
}
