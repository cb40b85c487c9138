import { LIST_PAGE } from "@holdfast/client/protocol";
import type { SessionRow } from "@holdfast/client/protocol";

export interface PageRequest {
  readonly archived?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export function pageOf(
  rows: readonly SessionRow[],
  request: PageRequest,
): { sessions: SessionRow[]; nextCursor?: string } {
  const byId = new Map(rows.map((row) => [row.sessionId, row]));
  const isArchived = (sessionId: string): boolean => byId.get(sessionId)?.lifecycle === "archived";
  const { sessionIds, ...page } = pageOfIds([...byId.keys()], request, isArchived);
  return { sessions: sessionIds.flatMap((sessionId) => byId.get(sessionId) ?? []), ...page };
}

/** Newest first; ids are UUIDv7, so they order rows of one millisecond and make the cursor. */
export function pageOfIds(
  all: readonly string[],
  { archived = false, limit = LIST_PAGE, cursor }: PageRequest,
  isArchived: (sessionId: string) => boolean,
): { sessionIds: string[]; nextCursor?: string } {
  const sessionIds: string[] = [];
  // They come mostly in order, which is sorted in one pass.
  for (const sessionId of all.toSorted((one, other) => (one < other ? 1 : -1))) {
    if (cursor !== undefined && sessionId >= cursor) continue;
    if (!archived && isArchived(sessionId)) continue;
    const last = sessionIds.at(-1);
    if (sessionIds.length === limit && last !== undefined) return { sessionIds, nextCursor: last };
    sessionIds.push(sessionId);
  }
  return { sessionIds };
}
