import { expect, it } from "vitest";
import { RECOVERY_WINDOW_MS, relaunchDelay, withinWindow } from "./budget.ts";

const now = { at: RECOVERY_WINDOW_MS + 1_000, bootId: "b" };

it("forgets launches older than the window and those of another boot", () => {
  const kept = { bootId: "b", at: now.at - 10 };
  expect(withinWindow([{ bootId: "b", at: 0 }, { bootId: "a", at: now.at - 10 }, kept], now)).toEqual([kept]);
});

it("I156 does not believe a launch that lies in the future", () => {
  expect(withinWindow([{ bootId: "b", at: now.at + 1 }], now)).toEqual([]);
});

it("I154 has five delays and no sixth", () => {
  const launches = Array.from({ length: 6 }, (_, at) => ({ bootId: "b", at }));
  expect(launches.map((_, count) => relaunchDelay(launches.slice(0, count)))).toEqual([
    250,
    1_000,
    5_000,
    5_000,
    5_000,
    null,
  ]);
});
