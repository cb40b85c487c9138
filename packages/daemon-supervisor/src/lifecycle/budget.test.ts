import { expect, it } from "vitest";
import { RECOVERY_WINDOW_MS, relaunchAt, withinWindow } from "./budget.ts";

const now = { at: RECOVERY_WINDOW_MS + 1_000, bootId: "b" };

it("forgets launches older than the window and those of another boot", () => {
  const kept = { bootId: "b", at: now.at - 10 };
  expect(withinWindow([{ bootId: "b", at: 0 }, { bootId: "a", at: now.at - 10 }, kept], now)).toEqual([kept]);
});

it("I156 does not believe a launch that lies in the future", () => {
  expect(withinWindow([{ bootId: "b", at: now.at + 1 }], now)).toEqual([]);
});

it("I154 has five delays and no sixth", () => {
  const launches = Array.from({ length: 6 }, () => ({ bootId: "b", at: now.at }));
  const delays = launches.map((_, count) => relaunchAt(launches.slice(0, count), now.at));
  expect(delays.map((at) => at && at - now.at)).toEqual([250, 1_000, 5_000, 5_000, 5_000, null]);
});

it("I135 I154 relaunches although each supervisor lives shorter than the delay", () => {
  const launches = [1, 2].map((index) => ({ bootId: "b", at: index }));
  let bootMs = 2;
  let boots = 0;
  for (; boots < 10; boots += 1) {
    bootMs += 2_000;
    const at = relaunchAt(launches, bootMs);
    if (at !== null && at < bootMs + 2_000) break;
  }
  expect(boots).toBe(1);
});
