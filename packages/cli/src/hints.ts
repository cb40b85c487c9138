import { ProtocolError } from "@holdfast/client/protocol";
import type { ErrorCode } from "@holdfast/client/protocol";

/** What to type next where the one who failed did not say it. */
const hints: Partial<Record<ErrorCode, string>> = {
  unsafe_directory: "agent doctor",
  permission_denied: "agent doctor tells what this user cannot reach",
  request_id_reused: "use a new --request-id, or none",
};

/** What was typed: the command, such as `agent session resume`, and what it called its session. */
export interface Typed {
  readonly command: string;
  readonly session: string | null;
}

/** The error with a hint that can be typed as it stands. */
export function withHint(error: ProtocolError, typed: Typed): ProtocolError {
  const hint = freshEnvironment(error, typed.session) ?? wayOut(error, typed) ?? error.hint ?? hints[error.code];
  if (hint === undefined || hint === error.hint) return error;
  return new ProtocolError(error.code, error.message, { hint, ...(error.data ? { data: error.data } : {}) });
}

const recoveries = ["agent session resume", "agent session retry"];

/** A session that fails again is not helped by the same command: what its worker said may tell why. */
function wayOut({ code, hint }: ProtocolError, { command, session }: Typed): string | null {
  if (!recoveries.includes(command) || session === null || hint?.startsWith("agent doctor")) return null;
  return code === "session_failed" || hint?.startsWith(command)
    ? `agent session logs ${session} --source worker`
    : null;
}

function freshEnvironment({ code, data }: ProtocolError, session: string | null): string | null {
  if (code !== "needs_fresh_environment" || session === null) return null;
  const names = data?.["names"];
  const settings = Array.isArray(names) ? names.map((name) => ` --env ${String(name)}=VALUE`).join("") : "";
  return `agent session resume ${session}${settings || " --env NAME=VALUE, once for each of them"}`;
}
