import type { ErrorCode, SessionEvent, StopReason } from "@holdfast/client/protocol";

/** One prompt's way through the events of its session. */
export type PromptState =
  | { readonly phase: "waiting"; readonly actionId: string }
  | { readonly phase: "running"; readonly actionId: string; readonly turnId: string };

export type PromptOutcome =
  | { readonly kind: "done" }
  /** A `shell` command ended with a status of its own. */
  | { readonly kind: "status"; readonly exitCode: number }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly message: string };

export interface PromptStep {
  readonly state: PromptState;
  /** Belongs to this prompt, or tells how its session is. */
  readonly shown: boolean;
  readonly outcome: PromptOutcome | null;
}

/** The next step. Other prompts of the session run before and after ours: theirs is not shown. */
export function followPrompt(state: PromptState, event: SessionEvent): PromptStep {
  const shown = { state, shown: true, outcome: null };
  const skipped = { state, shown: false, outcome: null };
  switch (event.type) {
    case "turn_started":
      if (event.actionId !== state.actionId) return skipped;
      return { ...shown, state: { phase: "running", actionId: state.actionId, turnId: event.turnId } };
    case "turn_ended":
      if (event.actionId !== state.actionId) return skipped;
      return { ...shown, outcome: turnOutcome(event.stopReason, event.exitCode) };
    case "action_cancelled":
      if (event.actionId !== state.actionId) return skipped;
      return {
        ...shown,
        outcome: { kind: "failed", code: "turn_cancelled", message: `the prompt was cancelled: ${event.reason}` },
      };
    case "prompt_accepted":
    case "steer":
      return event.actionId === state.actionId ? shown : skipped;
    case "output":
      if (state.phase === "waiting") return skipped;
      return event.turnId === undefined || event.turnId === state.turnId ? shown : skipped;
    case "message":
    case "thought":
    case "tool":
    case "permission_requested":
    case "permission_resolved":
      return state.phase === "running" ? shown : skipped;
    case "agent_message":
    case "child":
    case "gap":
    case "interrupted":
    case "restored":
    case "session":
    case "state":
    default:
      // Of the session as a whole, or of a later daemon (I26).
      return shown;
  }
}

const failures: Record<Exclude<StopReason, "end_turn">, { code: ErrorCode; message: string }> = {
  cancelled: { code: "turn_cancelled", message: "the turn was cancelled" },
  interrupted: { code: "interrupted", message: "the turn was interrupted; what it did until then is not known" },
  refused: { code: "turn_refused", message: "the agent refused the prompt" },
  limited: { code: "turn_limited", message: "the turn reached a limit" },
  failed: { code: "turn_failed", message: "the turn failed" },
};

function turnOutcome(stopReason: StopReason, exitCode: number | undefined): PromptOutcome {
  if (stopReason === "end_turn")
    return exitCode === undefined || exitCode === 0 ? { kind: "done" } : { kind: "status", exitCode };
  // A reason of a later daemon is a failure of its kind (I26).
  return { kind: "failed", ...(failures[stopReason] ?? failures.failed) };
}

/** The stream ended and the turn did not. */
export const unfinished: PromptOutcome = {
  kind: "failed",
  code: "interrupted",
  message: "the session ended before the turn did",
};
