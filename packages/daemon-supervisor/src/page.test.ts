import { expect, it } from "vitest";
import { pageOf } from "./page.ts";
import { damagedRow } from "./rows.ts";

const rows = Array.from({ length: 5 }, (_, index) => ({
  ...damagedRow(`id-${index}`, "x"),
  lifecycle: index === 3 ? ("archived" as const) : ("live" as const),
}));
const ids = (page: { sessions: { sessionId: string }[] }): string[] => page.sessions.map(({ sessionId }) => sessionId);

it("shows the newest first, archived ones on request", () => {
  expect(ids(pageOf(rows, {}))).toEqual(["id-4", "id-2", "id-1", "id-0"]);
  expect(ids(pageOf(rows, { archived: true }))).toEqual(["id-4", "id-3", "id-2", "id-1", "id-0"]);
});

it("goes on from its cursor and has none at the end", () => {
  const first = pageOf(rows, { limit: 3 });
  expect(first.nextCursor).toBe("id-1");
  const second = pageOf(rows, { limit: 3, cursor: first.nextCursor });
  expect(ids(second)).toEqual(["id-0"]);
  expect(second.nextCursor).toBeUndefined();
});
