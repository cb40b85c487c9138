import type { SessionRow, SessionState } from "./rows.ts";

export type StopReason = "end_turn" | "cancelled" | "interrupted" | "refused" | "limited" | "failed";
export type ActionKind = "prompt" | "steer" | "follow_up";
export type SteerOutcome = "injected" | "interrupted" | "queued";

interface EventBodies {
  session: SessionRow;
  prompt_accepted: { actionId: string; kind: ActionKind; text: string; requestId: string };
  turn_started: { turnId: string; actionId: string };
  turn_ended: { turnId: string; actionId: string; stopReason: StopReason; exitCode?: number };
  /** `bytes` (base64) is there only when the output is not valid UTF-8; `text` is then its readable form. */
  output: { stream: "stdout" | "stderr"; text: string; bytes?: string; turnId?: string };
  message: { text: string };
  thought: { text: string };
  tool: {
    toolCallId: string;
    title: string;
    status: "pending" | "running" | "completed" | "failed";
    content?: unknown;
  };
  permission_requested: { id: string; title: string; options: readonly { id: string; kind: string }[] };
  permission_resolved: { id: string; outcome: string };
  steer: { actionId: string; outcome: SteerOutcome };
  interrupted: { operations: readonly { operationId: string; kind: string; title: string }[] };
  /** An accepted action that will not run: stopped, cancelled while it waited, or never admitted. */
  action_cancelled: { actionId: string; reason: string };
  state: { state: SessionState; reason?: string };
  restored: { by: "resume" | "load" | "transcript" | "fresh"; notice?: string };
  child: { childId: string; assignmentId: string; status: "running" | "done" | "error" | "cancelled" | "stale" };
  agent_message: { from: string; text: string };
  gap: { from: string; to: string; reason: string };
}

export type EventType = keyof EventBodies;
export type EventBody = { [T in EventType]: { readonly type: T } & Readonly<EventBodies[T]> }[EventType];
export interface EventStamp {
  /** Opaque; `--from` takes it. */
  readonly cursor: string;
  /** RFC 3339. */
  readonly at: string;
  readonly sessionId: string;
}
/** One line of a transcript, of `attach` and of `events` (CLI.md §5). Unknown types and fields must be tolerated (I26). */
export type SessionEvent = EventStamp & EventBody;
export type EventOf<T extends EventType> = EventStamp & { readonly type: T } & Readonly<EventBodies[T]>;
