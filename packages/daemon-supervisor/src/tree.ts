import type { SessionRow, SessionTree } from "@holdfast/client/protocol";

/**
 * One session with all below it, or without `root` every unarchived one under its parent; newest first. One whose parent is not
 * shown stands at the top.
 */
export function treeOf(rows: readonly SessionRow[], root: string | null): SessionTree[] {
  const shown = rows
    .filter(({ lifecycle }) => root !== null || lifecycle === "live")
    .toSorted((one, other) => (one.sessionId < other.sessionId ? 1 : -1));
  const ids = new Set(shown.map(({ sessionId }) => sessionId));
  const children = new Map<string | null, SessionRow[]>();
  for (const row of shown) {
    const parent = row.parentId !== null && ids.has(row.parentId) ? row.parentId : null;
    children.set(parent, [...(children.get(parent) ?? []), row]);
  }
  const placed = new Set<string>();
  const place = (row: SessionRow): SessionTree[] => {
    // Damaged records may name each other as parents.
    if (placed.has(row.sessionId)) return [];
    placed.add(row.sessionId);
    return [{ ...row, children: (children.get(row.sessionId) ?? []).flatMap(place) }];
  };
  const top = root === null ? (children.get(null) ?? []) : shown.filter(({ sessionId }) => sessionId === root);
  return top.flatMap(place);
}
