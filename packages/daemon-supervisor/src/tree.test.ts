import type { SessionRow, SessionTree } from "@holdfast/client/protocol";
import { expect, it } from "vitest";
import { damagedRow } from "./rows.ts";
import { treeOf } from "./tree.ts";

const row = (sessionId: string, parentId: string | null, lifecycle: SessionRow["lifecycle"] = "live"): SessionRow => ({
  ...damagedRow(sessionId, ""),
  parentId,
  lifecycle,
});
/** `a(b c)`. */
const shape = (trees: readonly SessionTree[]): string =>
  trees
    .map(({ sessionId, children }) => (children.length > 0 ? `${sessionId}(${shape(children)})` : sessionId))
    .join(" ");

const rows = [row("1", null), row("2", "1"), row("3", "1"), row("4", "3"), row("5", null)];

it("puts sessions below their parents, newest first", () => {
  expect(shape(treeOf(rows, null))).toBe("5 1(3(4) 2)");
});

it("of one session is that one with all below it", () => {
  expect(shape(treeOf(rows, "3"))).toBe("3(4)");
});

it("of all leaves archived ones out, and shows their children at the top; of one shows them", () => {
  const archived = [row("1", null, "archived"), row("2", "1"), row("3", "2", "archived")];
  expect(shape(treeOf(archived, null))).toBe("2");
  expect(shape(treeOf(archived, "1"))).toBe("1(2(3))");
});

it("I142 records that name each other as parents end", () => {
  expect(shape(treeOf([row("1", "2"), row("2", "1")], "1"))).toBe("1(2)");
});
