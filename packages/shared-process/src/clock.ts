import type { Clock } from "./types.ts";

/** Node fires a timer above this delay at once, so longer ones are made of several. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Counts from the machine's boot on Linux, so that times of two processes of one boot can be compared. */
const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic,
  setTimer(delayMs, callback, options) {
    const end = monotonic() + delayMs;
    let timer: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      timer = leftMs > LONGEST_TIMER_MS ? setTimeout(again, LONGEST_TIMER_MS) : setTimeout(callback, leftMs);
      if (options?.background === true) timer.unref();
    };
    const again = (): void => arm(end - monotonic());
    arm(delayMs);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};
