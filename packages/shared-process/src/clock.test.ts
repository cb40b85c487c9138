import { describe, expect, it } from "vitest";
import { systemClock } from "./clock.ts";
import { FakeClock } from "./testing/index.ts";

describe("system clock", () => {
  it("fires a timer once after its delay, and never one that was disposed of", async () => {
    const started = systemClock.monotonic();
    const fired: string[] = [];
    systemClock.setTimer(1, () => fired.push("disposed"))[Symbol.dispose]();
    systemClock.setTimer(1, () => fired.push("background"), { background: true });
    await new Promise<void>((resolve) => {
      systemClock.setTimer(20, resolve);
    });
    expect(fired).toEqual(["background"]);
    expect(systemClock.monotonic() - started).toBeGreaterThanOrEqual(18);
  });

  it("does not fire a timer of a month at once", async () => {
    let fired = false;
    const timer = systemClock.setTimer(31 * 86_400_000, () => {
      fired = true;
    });
    await new Promise<void>((resolve) => {
      systemClock.setTimer(20, resolve);
    });
    timer[Symbol.dispose]();
    expect(fired).toBe(false);
  });
});

describe("fake clock", () => {
  it("runs what falls due in order, also what is set meanwhile", () => {
    const clock = new FakeClock(1_000);
    const fired: string[] = [];
    clock.setTimer(20, () => fired.push(`b${clock.monotonic()}`));
    clock.setTimer(10, () => clock.setTimer(5, () => fired.push(`a${clock.monotonic()}`)));
    clock.setTimer(12, () => fired.push("disposed"))[Symbol.dispose]();
    clock.setTimer(50, () => fired.push("later"));
    clock.advance(30);
    expect(fired).toEqual(["a15", "b20"]);
    expect([clock.now(), clock.monotonic(), clock.pendingTimers]).toEqual([1_030, 30, 1]);
  });
});
