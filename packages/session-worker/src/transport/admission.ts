import { CodedError, reasonOf } from "@holdfast/shared-process";
import { ProtocolError } from "@holdfast/client/protocol";

export const codeOf = (error: unknown): string | null => (error instanceof CodedError ? error.code : null);

const PASSING = new Set<string | null>(["disk_full", "journal_busy", "journal_unavailable"]);

/** Whether what kept a session's files from being opened may be over at the next try. */
export const mayPass = (error: unknown): boolean => PASSING.has(codeOf(error));

/** What a failed admission means for its client. */
export function toProtocolError(error: unknown): unknown {
  switch (codeOf(error)) {
    case "disk_full":
      return new ProtocolError("disk_full", "the disk is full");
    case "admission_unknown":
      return new ProtocolError("timeout", error instanceof Error ? error.message : "not known", {
        hint: "after `agent session stop` and `resume`, repeat it with its --request-id",
      });
    case "journal_full":
      return new ProtocolError("capacity", "too many actions are open");
    case "journal_poisoned":
    case "journal_fenced":
    case "journal_closed":
    case "log_poisoned":
    case "log_closed":
      return new ProtocolError("session_failed", "the session's files take no more records", {
        hint: "agent session stop, then resume, opens them anew",
      });
    case "log_lost":
      return new ProtocolError("session_failed", reasonOf(error), {
        hint: "move away what is in its place, or put its folder back; then the worker writes it anew",
      });
    case null:
    default:
      return error;
  }
}
