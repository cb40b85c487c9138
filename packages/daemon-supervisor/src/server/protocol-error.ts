import { ProtocolError, codeOfErrno, isErrorCode } from "@holdfast/client/protocol";
import { stepError, systemErrnoOf } from "@holdfast/recovery-journal";
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
  return errno === null ? error : systemError(errno, reasonOf(error));
}

/** What neither passes by itself nor is the request's own fault needs a person, and no repeat. */
function systemError(errno: string, reason: string): ProtocolError {
  const known = codeOfErrno(errno) ?? "internal";
  const isForPerson = known === "permission_denied" || known === "internal";
  return new ProtocolError(known, reason, isForPerson ? { hint: "agent doctor, or agent daemon logs" } : {});
}

/** A session that failed by what only a person can decide fails again at every resume: its reason says who tells the way out. */
function withWayOut(error: ProtocolError): ProtocolError {
  const { code, message, data } = error;
  if (code !== "session_failed" || !message.includes("agent doctor")) return error;
  return new ProtocolError(code, message, { hint: "agent doctor", ...(data ? { data } : {}) });
}
