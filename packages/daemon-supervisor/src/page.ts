import { LIST_PAGE } from "@holdfast/client/protocol";
import type { SessionRow } from "@holdfast/client/protocol";

export interface PageRequest {
  readonly archived?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** Newest first; ids are UUIDv7, so they order rows of one millisecond and make the cursor. */
export function pageOf(
  rows: readonly SessionRow[],
  request: PageRequest,
): { sessions: SessionRow[]; nextCursor?: string } {
  const { archived = false, limit = LIST_PAGE, cursor } = request;
  const wanted = rows
    .filter((row) => archived || row.lifecycle === "live")
    .toSorted((one, other) => (one.sessionId < other.sessionId ? 1 : -1));
  const rest = cursor === undefined ? wanted : wanted.filter((row) => row.sessionId < cursor);
  const sessions = rest.slice(0, limit);
  const last = sessions.at(-1);
  return rest.length > sessions.length && last ? { sessions, nextCursor: last.sessionId } : { sessions };
}
