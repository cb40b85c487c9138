import { ProtocolError, isErrorCode } from "@holdfast/client/protocol";
import { isDiskFull, stepError, systemErrnoOf } from "@holdfast/recovery-journal";
import { reasonOf } from "@holdfast/shared-process";

const WAY_OUT = "agent doctor tells the way out";

/** Errors of lower layers that clients know by the same code (CLI.md §4). */
export function asProtocolError(error: unknown): unknown {
  if (error instanceof ProtocolError) return withWayOut(error);
  const step = stepError(error);
  const code = step instanceof Error && "code" in step ? step.code : undefined;
  if (typeof code === "string" && isErrorCode(code)) return new ProtocolError(code, reasonOf(error));
  if (code === "journal_refused") return new ProtocolError("internal", reasonOf(error), { hint: WAY_OUT });
  const errno = systemErrnoOf(error);
  if (isDiskFull(error)) return new ProtocolError("disk_full", reasonOf(error));
  if (errno === "EMFILE" || errno === "ENFILE") return new ProtocolError("too_many_open_files", reasonOf(error));
  return error;
}

/** A session that failed by what only a person can decide fails again at every resume: its reason says who tells the way out. */
function withWayOut(error: ProtocolError): ProtocolError {
  const { code, message, data } = error;
  if (code !== "session_failed" || !message.includes("agent doctor")) return error;
  return new ProtocolError(code, message, { hint: "agent doctor", ...(data ? { data } : {}) });
}
