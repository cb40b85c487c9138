/** Something that will happen. `label` is what the trace says of it. */
interface Planned {
  readonly at: number;
  readonly order: number;
  readonly label: string;
  readonly run: () => void;
}

/** Promises, and what streams put off, come before it. What waits for a turn of the loop itself comes with the next step. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/**
 * Simulated time, in milliseconds from the beginning of the world. One thing happens at a time, and everything that it causes without
 * waiting has happened before the next: so the order is that of the plan, and the plan that of the seed.
 */
export class Scheduler {
  #now = 0;
  #order = 0;
  /** A binary heap, the earliest first; of the same time the one that was planned first. */
  readonly #heap: Planned[] = [];
  readonly #cancelled = new Set<Planned>();

  get now(): number {
    return this.#now;
  }

  plan(delayMs: number, label: string, run: () => void): Disposable {
    const planned = { at: this.#now + Math.max(0, delayMs), order: (this.#order += 1), label, run };
    this.#push(planned);
    return { [Symbol.dispose]: () => void this.#cancelled.add(planned) };
  }

  /** Runs what is due next; its label, or `null` when nothing is planned before `until`. */
  async step(until: number): Promise<string | null> {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || first.at > until) return null;
      this.#pop();
      if (this.#cancelled.delete(first)) continue;
      this.#now = first.at;
      first.run();
      await turn();
      return first.label;
    }
  }

  #push(planned: Planned): void {
    const heap = this.#heap;
    heap.push(planned);
    for (let child = heap.length - 1; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!isBefore(heap, child, parent)) return;
      swap(heap, child, parent);
      child = parent;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    for (let parent = 0; ;) {
      const left = 2 * parent + 1;
      let first = parent;
      for (const child of [left, left + 1]) if (child < heap.length && isBefore(heap, child, first)) first = child;
      if (first === parent) return;
      swap(heap, parent, first);
      parent = first;
    }
  }
}

function isBefore(heap: readonly Planned[], one: number, other: number): boolean {
  const [a, b] = [heap[one], heap[other]];
  if (a === undefined || b === undefined) return false;
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function swap(heap: Planned[], one: number, other: number): void {
  const [a, b] = [heap[one], heap[other]];
  if (a === undefined || b === undefined) return;
  heap[one] = b;
  heap[other] = a;
}
