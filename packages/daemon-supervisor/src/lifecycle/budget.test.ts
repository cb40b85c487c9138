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
  const delays = launches.map((_, count) => relaunchAt(launches.slice(0, count), { now: now.at, inherited: false }));
  expect(delays.map((at) => at && at - now.at)).toEqual([250, 1_000, 5_000, 5_000, 5_000, null]);
});

it("I135 I154 waits no longer than one delay in all, however often the supervisor is another one", () => {
  const launches = [0, 1_000].map((at) => ({ bootId: "b", at }));
  const due = [2_000, 4_000, 6_000].map((at) => relaunchAt(launches, { now: at, inherited: true }));
  expect(due).toEqual([6_000, 6_000, 6_250]);
  // A worker that ran for long is not relaunched the quicker for it.
  expect(relaunchAt(launches, { now: 60_000, inherited: false })).toBe(65_000);
});
