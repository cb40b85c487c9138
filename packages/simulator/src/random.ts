/** Mulberry32: small and seeded. Not for secrets. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `low` up to, and without, `high`. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.between(0, choices.length)];
    if (choice === undefined) throw new RangeError("nothing to pick from");
    return choice;
  }

  /** One of the names, each as often as its weight says. */
  weighted<N extends string>(weights: Readonly<Record<N, number>>): N {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a record are its names
    const entries = Object.entries(weights) as [N, number][];
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) if ((rest -= weight) < 0) return name;
    return this.pick(entries)[0];
  }

  hex(digits: number): string {
    let text = "";
    while (text.length < digits) text += this.between(0, 16).toString(16);
    return text;
  }
}
