import type { ExitInfo, ExitWatch } from "../types.ts";

type Ended = (exit: ExitInfo) => void;

/**
 * The end of one process, told once to each who asks. `watch` is called with the first question: until then nothing is
 * watched, and after the end nothing more.
 */
export class ExitNotice implements ExitWatch, Disposable {
  readonly #watch: (ended: Ended) => Disposable;
  readonly #callbacks = new Set<Ended>();
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
    // Its own function, so that one callback registered twice can be disposed of once.
    const once: Ended = (exit) => callback(exit);
    this.#callbacks.add(once);
    const known = this.#exit;
    if (known !== null) queueMicrotask(() => this.#callbacks.delete(once) && once(known));
    else this.begin();
    return { [Symbol.dispose]: () => void this.#callbacks.delete(once) };
  }

  /** Watches from now on, also when nobody has asked yet. After disposal nothing is watched any more. */
  begin(): void {
    if (this.#isDisposed) return;
    this.#watching ??= this.#watch((exit) => this.#end(exit));
  }

  #end(exit: ExitInfo): void {
    if (this.#exit !== null) return;
    this.#exit = exit;
    const callbacks = [...this.#callbacks];
    this.#callbacks.clear();
    for (const callback of callbacks) callback(exit);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#callbacks.clear();
    this.#watching?.[Symbol.dispose]();
    this.#watching = null;
  }
}
