import type { Clock } from "@holdfast/shared-process";
import type { Registry } from "./registry.ts";

/** A daemon without a session that has a process ends itself after this (CLI.md §6). */
const IDLE_MS = 30 * 60_000;

/** States without a process that wait for a person. */
const restingStates = new Set(["passivated", "failed"]);

export class Idle implements Disposable {
  readonly #clock: Clock;
  readonly #onIdle: () => void;
  #timer: Disposable | null = null;
  #disposed = false;

  constructor(clock: Clock, onIdle: () => void) {
    this.#clock = clock;
    this.#onIdle = onIdle;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    this.#disposed = true;
  }

  /** Looks at what is registered now; called on every change, so that no periodic timer is needed. */
  look(registry: Pick<Registry, "sessionIds" | "newest">): void {
    const resting = registry
      .sessionIds()
      .every((sessionId) => restingStates.has(registry.newest(sessionId)?.name ?? "passivated"));
    if (!resting) {
      this.#timer?.[Symbol.dispose]();
      this.#timer = null;
      return;
    }
    if (!this.#disposed) this.#timer ??= this.#clock.setTimer(IDLE_MS, () => this.#onIdle());
  }
}
