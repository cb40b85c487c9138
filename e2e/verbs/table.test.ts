import { expect, it } from "vitest";
import { columns, table, verbs } from "./table.ts";

it("the table has a cell for every verb of the contract in every state, and each is judged by an exit code of the contract", () => {
  const mutations = "prompt follow-up steer cancel stop resume retry archive passivate delete unarchive rename set";
  const reads = "attach show transcript logs wait";
  expect(verbs).toEqual([...mutations.split(" "), ...reads.split(" ")]);
  expect(Object.values(table).map((row) => row.length)).toEqual(verbs.map(() => columns.length));
  const cells = Object.values(table).flat();
  expect(cells.filter(({ exit, code }) => (exit === 0) !== (code === undefined))).toEqual([]);
  expect(new Set(cells.map(({ exit }) => exit))).toEqual(new Set([0, 5, 6, 7, 8]));
});
