import { judged, type Measured, type Row } from "./row.ts";

/** What one benchmark runs with. */
export class Bench {
  readonly rows: Row[] = [];
  readonly quick: boolean;
  readonly #filter: string;

  constructor({ quick, filter }: { readonly quick: boolean; readonly filter: string }) {
    this.quick = quick;
    this.#filter = filter;
  }

  /** How often something is measured for its median. */
  get rounds(): number {
    return this.quick ? 5 : 15;
  }

  wants(...names: readonly string[]): boolean {
    return names.some((name) => name.includes(this.#filter));
  }

  report(measured: Measured): void {
    if (!this.wants(measured.name)) return;
    const row = judged(measured);
    this.rows.push(row);
    this.say(`  ${row.name}: ${row.value.toFixed(3)} ${row.unit}${row.met === false ? " (missed)" : ""}`);
  }

  /** Progress, on standard error. */
  say(text: string): void {
    process.stderr.write(`${text}\n`);
  }
}

export interface Benchmark {
  /** The rows that it can report; it runs if one of them is wanted. */
  readonly names: readonly string[];
  readonly run: (bench: Bench) => Promise<void>;
}
