import type { Clock } from "@holdfast/shared-process";

/**
 * Lets one through in each turn of the loop. Starting a program holds the loop until the child has replaced itself, for milliseconds on
 * an idle machine and tens of them on a busy one: many sessions at once must not add that up into one gap.
 */
export class Turns {
  readonly #clock: Clock;
  #free: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** At once when nobody else was let through in this turn. */
  next(): Promise<void> {
    const mine = this.#free;
    this.#free = mine.then(() => new Promise((resolve) => void this.#clock.setTimer(0, resolve)));
    return mine;
  }
}
