import { rethrowLater } from "../errors.ts";
import type { ExitInfo, ExitWatch } from "../types.ts";

type Ended = (exit: ExitInfo) => void;

interface Asked {
  readonly callback: Ended;
  cancelled: boolean;
}

/**
 * The end of one process, told once to each who asks. `watch` is called with the first question: until then nothing is
 * watched, and after the end nothing more.
 */
export class ExitNotice implements ExitWatch, Disposable {
  readonly #watch: (ended: Ended) => Disposable;
  readonly #asked = new Set<Asked>();
  #watching: Disposable | null = null;
  #exit: ExitInfo | null = null;
  #exited: Promise<ExitInfo> | null = null;
  #isDisposed = false;

  constructor(watch: (ended: Ended) => Disposable) {
    this.#watch = watch;
  }

  /** Settles when the process ends; never after disposal. */
  get exited(): Promise<ExitInfo> {
    this.#exited ??= new Promise((resolve) => {
      this.onExit(resolve);
    });
    return this.#exited;
  }

  onExit(callback: Ended): Disposable {
    const one = { callback, cancelled: false };
    if (this.#exit === null) {
      this.#asked.add(one);
      this.begin();
    } else {
      const exit = this.#exit;
      queueMicrotask(() => tell(one, exit));
    }
    return {
      [Symbol.dispose]: () => {
        one.cancelled = true;
        this.#asked.delete(one);
      },
    };
  }

  /** Watches from now on, also when nobody has asked yet. After disposal nothing is watched any more. */
  begin(): void {
    if (this.#isDisposed) return;
    this.#watching ??= this.#watch((exit) => this.#end(exit));
  }

  #end(exit: ExitInfo): void {
    if (this.#exit !== null) return;
    this.#exit = exit;
    const asked = [...this.#asked];
    this.#asked.clear();
    for (const one of asked) tell(one, exit);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#asked.clear();
    this.#watching?.[Symbol.dispose]();
    this.#watching = null;
  }
}

/** What one callback throws keeps nobody else from being told. */
function tell(one: Asked, exit: ExitInfo): void {
  if (one.cancelled) return;
  try {
    one.callback(exit);
  } catch (error) {
    rethrowLater(error);
  }
}
