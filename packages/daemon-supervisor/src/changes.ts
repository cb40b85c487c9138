import type { Clock } from "@holdfast/shared-process";

/** Tells those who wait that a session's row may look different now. */
export class Changes {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tell(sessionId: string): void {
    for (const wake of this.#waiting.get(sessionId) ?? []) wake();
  }

  /** Resolves with the next change of one of these, or when the time is over. */
  next(sessionIds: readonly string[], timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer[Symbol.dispose]();
        for (const sessionId of sessionIds) {
          const others = this.#waiting.get(sessionId);
          others?.delete(wake);
          if (others?.size === 0) this.#waiting.delete(sessionId);
        }
        resolve();
      };
      const timer = this.#clock.setTimer(timeoutMs, wake);
      for (const sessionId of sessionIds) {
        const others = this.#waiting.get(sessionId) ?? new Set();
        this.#waiting.set(sessionId, others.add(wake));
      }
    });
  }
}
