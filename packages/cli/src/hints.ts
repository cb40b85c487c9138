import { ProtocolError } from "@holdfast/client/protocol";
import type { ErrorCode } from "@holdfast/client/protocol";

/** What to type next where the one who failed did not say it. */
const hints: Partial<Record<ErrorCode, string>> = {
  request_id_reused: "use a new --request-id, or none",
};

/** The error with a hint that can be typed as it stands; `session` is what the user called the session. */
export function withHint(error: ProtocolError, session: string | null): ProtocolError {
  const hint = freshEnvironment(error, session) ?? error.hint ?? hints[error.code];
  if (hint === undefined || hint === error.hint) return error;
  return new ProtocolError(error.code, error.message, { hint, ...(error.data ? { data: error.data } : {}) });
}

function freshEnvironment({ code, data }: ProtocolError, session: string | null): string | null {
  if (code !== "needs_fresh_environment" || session === null) return null;
  const names = data?.["names"];
  const settings = Array.isArray(names) ? names.map((name) => ` --env ${String(name)}=VALUE`).join("") : "";
  return `agent session resume ${session}${settings || " --env NAME=VALUE, once for each of them"}`;
}
