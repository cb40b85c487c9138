import { LIST_PAGE } from "@holdfast/client/protocol";
import type { SessionRow } from "@holdfast/client/protocol";

export interface PageRequest {
  readonly archived?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** Ids are UUIDv7, so they order sessions of one millisecond and make the cursor. */
export const newestFirst = (ids: Iterable<string>): string[] =>
  [...ids].toSorted((one, other) => (one < other ? 1 : -1));

export function pageOf(
  rows: readonly SessionRow[],
  request: PageRequest,
): { sessions: SessionRow[]; nextCursor?: string } {
  const byId = new Map(rows.map((row) => [row.sessionId, row]));
  const isArchived = (sessionId: string): boolean => byId.get(sessionId)?.lifecycle === "archived";
  const { sessionIds, ...page } = pageOfIds(newestFirst(byId.keys()), request, isArchived);
  return { sessions: sessionIds.flatMap((sessionId) => byId.get(sessionId) ?? []), ...page };
}

/** `all`: the newest first. */
export function pageOfIds(
  all: readonly string[],
  { archived = false, limit = LIST_PAGE, cursor }: PageRequest,
  isArchived: (sessionId: string) => boolean,
): { sessionIds: string[]; nextCursor?: string } {
  const sessionIds: string[] = [];
  for (const sessionId of all) {
    if (cursor !== undefined && sessionId >= cursor) continue;
    if (!archived && isArchived(sessionId)) continue;
    const last = sessionIds.at(-1);
    if (sessionIds.length === limit && last !== undefined) return { sessionIds, nextCursor: last };
    sessionIds.push(sessionId);
  }
  return { sessionIds };
}
