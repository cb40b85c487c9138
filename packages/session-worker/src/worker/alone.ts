import type { FileSystem } from "@holdfast/recovery-journal";
import type { Clock } from "@holdfast/shared-process";

/** How often a worker without a supervisor looks around; one with work sooner, since it may have to see to a successor. */
const LOOK_MS = 5_000;
const WORKING_LOOK_MS = 1_000;
/** After so long without a supervisor and without work it ends. */
const IDLE_MS = 30 * 60_000;

export interface AloneOptions {
  readonly home: string;
  readonly clock: Clock;
  readonly fs: FileSystem;
  /** A turn runs or an action waits. */
  readonly isWorking: () => boolean;
  /** Why an end would take something along; asked when it is time to end. */
  readonly whyBusy: () => string | null;
  readonly seeToSuccessor: () => Promise<void>;
  /** Binds the socket again if somebody removed it. */
  readonly rebind: () => Promise<void>;
  readonly leave: (reason: string) => void;
}

/** A worker's time without a supervisor, from its loss until the next one proves itself. */
export class Alone implements Disposable {
  readonly #options: AloneOptions;
  /** Since when it has been alone and has had nothing to do. */
  #restsSince: number;
  #timer: Disposable | null = null;
  #isOver = false;

  constructor(options: AloneOptions) {
    this.#options = options;
    this.#restsSince = options.clock.monotonic();
    // What took the supervisor may have been the end of the home.
    if (!this.#leaveLostHome()) this.#lookLater();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#timer?.[Symbol.dispose]();
  }

  #lookLater(): void {
    if (this.#isOver) return;
    const { clock, isWorking } = this.#options;
    this.#timer = clock.setTimer(isWorking() ? WORKING_LOOK_MS : LOOK_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { isWorking, seeToSuccessor, rebind } = this.#options;
    if (this.#leaveLostHome() || this.#leaveIdle()) return;
    if (isWorking()) await seeToSuccessor();
    if (!this.#isOver) await rebind();
    this.#lookLater();
  }

  #leaveLostHome(): boolean {
    if (!isMissing(this.#options.fs, this.#options.home)) return false;
    this.#leave("its home is gone");
    return true;
  }

  #leaveIdle(): boolean {
    const { clock, isWorking, whyBusy } = this.#options;
    const now = clock.monotonic();
    if (isWorking()) this.#restsSince = now;
    if (now - this.#restsSince < IDLE_MS) return false;
    if (whyBusy() !== null) {
      // What its session left running is worth as long again.
      this.#restsSince = now;
      return false;
    }
    this.#leave("no supervisor came");
    return true;
  }

  #leave(reason: string): void {
    this.#isOver = true;
    this.#options.leave(reason);
  }
}

export function isMissing(fs: FileSystem, path: string): boolean {
  try {
    return !fs.exists(path);
  } catch {
    // It cannot be seen now, which is no proof that it is not there.
    return false;
  }
}
