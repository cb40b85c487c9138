import { isDeepStrictEqual } from "node:util";
import type { JournalReport } from "../../src/index.ts";
import type { Call } from "../../src/proof/entry.ts";
import { Ledger } from "../../src/proof/ledger.ts";

/** Requests that a writer of the tests keeps, and how many operations it has open at most: see `fixtures/writer.mjs`. */
export const REMEMBER = { count: 48, ageMs: 86_400_000 };
const MAX_OPEN = 24;

/** The errors that leave open whether the record is there; all others say that it is not. */
const UNKNOWN_CODES = new Set(["journal_poisoned", "journal_fenced"]);

export type WriterEvent =
  | { readonly starting: number }
  | { readonly opened: JournalReport; readonly read: JournalReport }
  | { readonly refused: string }
  | { readonly ask: number; readonly call: Call }
  | { readonly ack: number }
  | { readonly failed: number; readonly code: string }
  | { readonly stopped: string; readonly late: string }
  | { readonly counters: { readonly compactions: number; readonly flushes: number } };

/** What the writers of one journal said, one process after the other, and what is wrong with it. */
export class WriterLedger {
  /** The highest segment that a reader saw. */
  segment = 0;
  readonly violations: string[] = [];
  readonly refusals: string[] = [];
  readonly codes = new Map<string, number>();
  readonly stops: { readonly stopped: string; readonly late: string }[] = [];
  compactions = 0;
  readonly #ledger = new Ledger(REMEMBER.count - MAX_OPEN);

  get acknowledged(): number {
    return this.#ledger.acknowledged;
  }

  take(event: WriterEvent): void {
    try {
      this.#take(event);
    } catch (error) {
      this.violations.push(`${JSON.stringify(event)}: ${String(error)}`);
    }
  }

  #take(event: WriterEvent): void {
    if ("ask" in event || "ack" in event) this.#ledger.take(event);
    else if ("failed" in event) this.#failed(event.failed, event.code);
    else if ("opened" in event) this.#opened(event.opened, event.read);
    else if ("refused" in event) this.refusals.push(event.refused);
    else if ("stopped" in event) this.stops.push(event);
    else if ("counters" in event) this.compactions += event.counters.compactions;
  }

  #failed(ask: number, code: string): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    if (!UNKNOWN_CODES.has(code)) this.#ledger.take({ refused: ask });
  }

  #opened(report: JournalReport, read: JournalReport): void {
    if (!isDeepStrictEqual(report, read)) this.violations.push("a reader and the next owner find different things");
    this.violations.push(...this.#ledger.judge(report));
    if (report.kind === "refused") return;
    this.#ledger.bind(report);
    this.#ledger.take({ journal: "opened" });
    if (report.kind === "ok") this.segment = report.segment;
  }
}
