import type { Clock } from "@holdfast/shared-process";

/**
 * A loop that appends again and again marks nothing meanwhile; one that turns meanwhile has its mark before it waits for
 * long.
 */
export const MARK_DELAY_MS = 1;
/** A pause between two bursts of work costs no new segment. */
export const SHRINK_DELAY_MS = 30_000;

export interface RestSteps {
  /** Whether there may be something to shrink. */
  readonly mark: () => boolean;
  readonly shrink: () => void;
}

/** What a journal does when nothing is appended any more, by one timer, which a journal at rest does not have. */
export class RestTimer {
  readonly #clock: Pick<Clock, "setTimer">;
  readonly #steps: RestSteps;
  #next: "mark" | "shrink" | null = null;
  #timer: Disposable | null = null;

  constructor(clock: Pick<Clock, "setTimer">, steps: RestSteps) {
    this.#clock = clock;
    this.#steps = steps;
  }

  /** A batch is durable and none waits. Called for each batch: a mark that is due already may come early. */
  begin(): void {
    if (this.#next === "mark") return;
    this.stop();
    this.#next = "mark";
    this.#timer = this.#clock.setTimer(MARK_DELAY_MS, () => {
      this.#next = null;
      if (this.#steps.mark()) this.#shrinkLater();
    });
  }

  stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#next = null;
  }

  #shrinkLater(): void {
    this.#next = "shrink";
    const shrink = (): void => {
      this.#next = null;
      this.#steps.shrink();
    };
    this.#timer = this.#clock.setTimer(SHRINK_DELAY_MS, shrink, { background: true });
  }
}
