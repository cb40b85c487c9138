import { expect, it } from "vitest";
import { bootTable, decideBoot } from "./boot.ts";
import type { Found } from "./boot.ts";

const inputs: Found[] = (["damaged", "none", "ended", "failed", "process"] as const).flatMap((record) =>
  (["running", "passive", "stopped", "archived"] as const).flatMap((wanted) =>
    ([null, "stop", "archive", "passivate", "replace"] as const).flatMap((intent) =>
      (["current", "unknown", "gone"] as const).map((verdict) => ({ record, wanted, intent, verdict })),
    ),
  ),
);

it("fires exactly one row for each of 300 inputs", () => {
  expect(inputs).toHaveLength(300);
  for (const found of inputs) expect([found, bootTable.filter(({ fires }) => fires(found)).length]).toEqual([found, 1]);
});

it("uses every row", () => {
  const used = new Set(inputs.map((found) => bootTable.find(({ fires }) => fires(found))));
  expect(used.size).toBe(bootTable.length);
});

it("I129 brings back nothing that was stopped or archived", () => {
  for (const found of inputs) {
    if (found.wanted !== "stopped" && found.wanted !== "archived") continue;
    expect(["quarantine", "leave", "continue_stop", "finalize"]).toContain(decideBoot(found));
  }
});

it("I130 I168 finishes a stop that left only its bare name", () => {
  const bare = inputs.filter(({ record, intent }) => (record === "none" || record === "ended") && intent !== null);
  expect(new Set(bare.map(decideBoot))).toEqual(new Set(["finalize"]));
});

it("I27 I130 resumes every intent, whatever became of the process", () => {
  for (const found of inputs) {
    if (found.record !== "process" || found.intent === null) continue;
    expect(decideBoot(found)).toBe(found.verdict === "gone" ? "finalize" : "continue_stop");
  }
});

it("I134 finalizes and recovers only what is proven gone", () => {
  const unproven = inputs.filter(({ record, verdict }) => record === "process" && verdict !== "gone");
  expect(new Set(unproven.map(decideBoot))).toEqual(new Set(["continue_stop", "reconnect"]));
});

it("I83 leaves no older record behind that a later start would look at again", () => {
  const decisions = inputs.filter(({ record }) => record === "ended").map(decideBoot);
  expect(new Set(decisions)).toEqual(new Set(["finalize", "stay_passivated", "launch"]));
});
