import { describe, expect, it } from "vitest";
import { FakeClock } from "../testing/index.ts";
import type { ExitInfo } from "../types.ts";
import { createExitPoller } from "./polling.ts";

const POLL_MS = 100;
const EXIT: ExitInfo = { at: 1, status: null };

/** A process to look at, which ends when `ended` is set. */
function process(): { ended: boolean; looks: number; readonly look: () => ExitInfo | null } {
  const one = {
    ended: false,
    looks: 0,
    look: () => {
      one.looks += 1;
      return one.ended ? EXIT : null;
    },
  };
  return one;
}

describe("createExitPoller", () => {
  it("has no timer while nothing is watched, and one for everything that is", () => {
    const clock = new FakeClock();
    const poller = createExitPoller(clock);
    expect(clock.pendingTimers).toBe(0);
    const watches = Array.from({ length: 300 }, () => poller.watch(process().look, () => {}));
    expect(clock.pendingTimers).toBe(1);
    clock.advance(10 * POLL_MS);
    expect(clock.pendingTimers).toBe(1);
    for (const watch of watches) watch[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it("looks once in a period, tells the end once, and then stops", () => {
    const clock = new FakeClock();
    const poller = createExitPoller(clock);
    const one = process();
    const told: ExitInfo[] = [];
    poller.watch(one.look, (exit) => told.push(exit));
    clock.advance(POLL_MS - 1);
    expect(one.looks).toBe(0);
    clock.advance(1 + 2 * POLL_MS);
    expect(one.looks).toBe(3);
    one.ended = true;
    clock.advance(POLL_MS);
    expect(told).toEqual([EXIT]);
    expect(clock.pendingTimers).toBe(0);
    clock.advance(10 * POLL_MS);
    expect([told.length, one.looks]).toEqual([1, 4]);
  });

  it("goes on with the others when one has ended", () => {
    const clock = new FakeClock();
    const poller = createExitPoller(clock);
    const [one, other] = [process(), process()];
    const told: string[] = [];
    poller.watch(one.look, () => void told.push("one"));
    poller.watch(other.look, () => void told.push("other"));
    one.ended = true;
    clock.advance(POLL_MS);
    other.ended = true;
    clock.advance(POLL_MS);
    expect(told).toEqual(["one", "other"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("tells nothing of what an earlier callback has let go, and looks at what one has begun to watch", () => {
    const clock = new FakeClock();
    const poller = createExitPoller(clock);
    const [one, other, late] = [process(), process(), process()];
    const told: string[] = [];
    poller.watch(one.look, () => {
      told.push("one");
      second[Symbol.dispose]();
      poller.watch(late.look, () => void told.push("late"));
    });
    const second = poller.watch(other.look, () => void told.push("other"));
    for (const each of [one, other, late]) each.ended = true;
    clock.advance(2 * POLL_MS);
    expect(told).toEqual(["one", "late"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("is not stopped by a second disposal of an earlier watch", () => {
    const clock = new FakeClock();
    const poller = createExitPoller(clock);
    const first = poller.watch(process().look, () => {});
    first[Symbol.dispose]();
    const one = process();
    const told: ExitInfo[] = [];
    poller.watch(one.look, (exit) => told.push(exit));
    first[Symbol.dispose]();
    one.ended = true;
    clock.advance(POLL_MS);
    expect(told).toEqual([EXIT]);
  });
});
