import { expect, it } from "vitest";
import { olderLifecycles } from "../older/form.ts";
import { olderRow, olderTable } from "./older.ts";
import type { OlderFound } from "./older.ts";

const inputs: OlderFound[] = ([...olderLifecycles, "unknown"] as const).flatMap((lifecycle) =>
  (["unnamed", "alive", "gone", "unreadable"] as const).flatMap((process) =>
    (["absent", "equal", "different", "unverifiable"] as const).map((start) => ({ lifecycle, process, start })),
  ),
);
const decisionsOf = (wanted: (found: OlderFound) => boolean): Set<string> =>
  new Set(inputs.filter(wanted).map((found) => olderRow(found).decision));

it("fires exactly one row for each of 112 inputs, and uses every row", () => {
  expect(inputs).toHaveLength(112);
  for (const found of inputs)
    expect([found, olderTable.filter(({ fires }) => fires(found)).length]).toEqual([found, 1]);
  expect(new Set(inputs.map(olderRow)).size).toBe(olderTable.length);
});

it("I84 promotes a number only with a verified start id", () => {
  const promoted = inputs.filter((found) => olderRow(found).decision === "promote");
  expect(promoted.length).toBeGreaterThan(0);
  expect(promoted.filter(({ process, start }) => process !== "alive" || start !== "equal")).toEqual([]);
});

it("I16 I81 takes for ended only what is proven gone, or names nothing while it recovers", () => {
  const ended = inputs.filter((found) => olderRow(found).decision === "ended");
  const unproven = ended.filter(
    ({ lifecycle, process, start }) =>
      process !== "gone" &&
      !(process === "alive" && start === "different") &&
      !(process === "unnamed" && lifecycle === "recovering"),
  );
  expect([ended.length > 0, unproven]).toEqual([true, []]);
});

it("I81 quarantines a lifecycle that it does not know, whatever else it says", () => {
  expect(decisionsOf(({ lifecycle }) => lifecycle === "unknown")).toEqual(new Set(["quarantine"]));
});

it("I83 lets a passivated one rest, whoever has its number", () => {
  expect(decisionsOf(({ lifecycle }) => lifecycle === "passivated")).toEqual(new Set(["rest"]));
});
