import { expect, it } from "vitest";
import { classifyInterrupt } from "./interrupts.ts";

it.each([
  [null, 0, "first"],
  [1_000, 1_000, "repeat"],
  [1_000, 1_499, "repeat"],
  [1_000, 1_500, "second"],
  [1_000, 3_000, "second"],
  [1_000, 3_001, "first"],
])("Ctrl-C after one at %s, at %s, is the %s", (previous, now, meaning) => {
  expect(classifyInterrupt(previous, now)).toBe(meaning);
});
