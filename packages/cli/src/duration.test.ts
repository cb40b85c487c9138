import { expect, it } from "vitest";
import { parseDuration } from "./duration.ts";

it.each([
  ["500ms", 500],
  ["10s", 10_000],
  ["5m", 300_000],
  ["1h", 3_600_000],
  ["0s", 0],
  ["1.5s", 1_500],
])("reads %s", (text, milliseconds) => {
  expect(parseDuration(text, "--timeout")).toBe(milliseconds);
});

it.each(["", "10", "s", "-1s", "1 s", "1d", "1e3s", "10s5m", "9999h"])("refuses %j as usage", (text) => {
  expect(() => parseDuration(text, "--timeout")).toThrow(expect.objectContaining({ code: "usage" }));
});
