import type { FileSystem } from "../file-system.ts";
import { readJournal } from "../journal/read.ts";
import type { JournalReport } from "../types.ts";
import { SIMULATED_DIRECTORY, SIMULATED_KINDS } from "./open-simulated.ts";

/** A model without its methods, as another thread sends it. */
export type JournalData = Pick<
  JournalModel,
  "asked" | "begun" | "endAsked" | "ended" | "notesAsked" | "notes" | "remembered" | "opened" | "removal"
>;

/** What was asked of a journal and what it acknowledged: the measure of every crash state. */
export class JournalModel {
  readonly asked = new Set<string>();
  readonly begun = new Set<string>();
  readonly endAsked = new Set<string>();
  readonly ended = new Set<string>();
  readonly notesAsked = new Map<string, number>();
  readonly notes = new Map<string, number>();
  /** Acknowledged requests and the JSON of the outcome that was acknowledged, if one was. */
  readonly remembered = new Map<string, string | null>();
  opened = false;
  /** The journal is being, or was, removed: nothing of it was needed any more. */
  removal: "none" | "asked" | "done" = "none";

  /** A model of what a report says: nothing of it may change any more. */
  static of(report: JournalReport): JournalModel {
    const model = new JournalModel();
    if (report.kind !== "ok") return model;
    model.opened = true;
    for (const { operationId: id, notes } of report.open) {
      model.asked.add(id);
      model.begun.add(id);
      model.notesAsked.set(id, notes.length);
      model.notes.set(id, notes.length);
    }
    for (const { requestId, outcome } of report.remembered) {
      model.remembered.set(requestId, outcome === null ? null : JSON.stringify(outcome));
    }
    return model;
  }

  /** Takes in what another writer of the same journal asked and was told. */
  add(other: JournalData): void {
    for (const set of ["asked", "begun", "endAsked", "ended"] as const) {
      for (const id of other[set]) this[set].add(id);
    }
    for (const [id, count] of other.notesAsked) this.notesAsked.set(id, (this.notesAsked.get(id) ?? 0) + count);
    for (const [id, count] of other.notes) this.notes.set(id, (this.notes.get(id) ?? 0) + count);
    for (const [id, outcome] of other.remembered) this.remembered.set(id, outcome ?? this.remembered.get(id) ?? null);
    this.opened ||= other.opened;
  }

  copy(): JournalModel {
    const model = new JournalModel();
    model.add(this);
    model.removal = this.removal;
    return model;
  }

  /** Changes whenever something was asked or acknowledged. */
  get version(): string {
    const { asked, begun, endAsked, ended, notesAsked, notes, remembered, opened, removal } = this;
    const counts = [...notesAsked.values(), ...notes.values()];
    return [asked.size, begun.size, endAsked.size, ended.size, ...counts, remembered.size, opened, removal].join();
  }

  /** What is wrong with a report, `null` when it is one that a crash now may leave. */
  judge(report: JournalReport): string | null {
    if (report.kind === "refused") return `refused: ${report.why}, ${report.message}`;
    if (report.kind === "fresh") return this.opened && this.removal === "none" ? "an opened journal is missing" : null;
    if (this.removal === "done") return "a removed journal is there again";
    const open = new Map(report.open.map(({ operationId, notes }) => [operationId, notes.length]));
    for (const id of this.begun) if (!this.endAsked.has(id) && !open.has(id)) return `${id} was begun and is lost`;
    for (const id of this.ended) if (open.has(id)) return `${id} was ended and is open again`;
    for (const [id, notes] of open) {
      if (!this.asked.has(id)) return `${id} was never begun`;
      if (notes < (this.notes.get(id) ?? 0)) return `a note of ${id} is lost`;
      if (notes > (this.notesAsked.get(id) ?? 0)) return `${id} has a note that nobody asked for`;
    }
    const remembered = new Map(
      report.remembered.map((request) => [request.requestId, JSON.stringify(request.outcome)]),
    );
    for (const [id, outcome] of this.remembered) {
      const found = remembered.get(id);
      if (found === undefined) return `the request ${id} is lost`;
      if (outcome !== null && found !== outcome) return `the outcome of ${id} is lost`;
    }
    return null;
  }

  judgeDisk(fs: FileSystem): string | null {
    return this.judge(readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, fs));
  }
}
