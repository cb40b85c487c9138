import type { Clock } from "../types.ts";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/**
 * Time that stands still until a test advances it. Wall and monotonic time start apart, so that mixing them up shows.
 */
export class FakeClock implements Clock {
  #elapsedMs = 0;
  readonly #startMs: number;
  readonly #timers = new Set<Timer>();

  constructor(startMs = 1_700_000_000_000) {
    this.#startMs = startMs;
  }

  now(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  setTimer(delayMs: number, callback: () => void): Disposable {
    const timer = { at: this.#elapsedMs + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Moves on and runs what falls due, in order of time, timers set meanwhile included. */
  advance(ms: number): void {
    const end = this.#elapsedMs + ms;
    for (let next = this.#next(end); next !== null; next = this.#next(end)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, next.at);
      this.#timers.delete(next);
      next.callback();
    }
    this.#elapsedMs = end;
  }

  #next(end: number): Timer | null {
    let first: Timer | null = null;
    for (const timer of this.#timers) if (timer.at <= end && (first === null || timer.at < first.at)) first = timer;
    return first;
  }
}
