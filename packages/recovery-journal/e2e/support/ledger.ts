import { isDeepStrictEqual } from "node:util";
import type { JournalReport, JsonObject, JsonValue } from "../../src/index.ts";

/** Requests that a writer of the tests keeps, and how many operations it has open at most: see `fixtures/writer.mjs`. */
export const REMEMBER = { count: 48, ageMs: 86_400_000 };
const MAX_OPEN = 24;
/** A request with fewer newer ones than this cannot have been forgotten. */
const SURELY_KEPT = REMEMBER.count - MAX_OPEN;

/** The errors that leave open whether the record is there; all others say that it is not. */
const UNKNOWN_CODES = new Set(["journal_poisoned", "journal_fenced"]);

type Call =
  | { readonly type: "begin" | "restore"; readonly ids: readonly string[] }
  | { readonly type: "admit"; readonly ids: readonly string[]; readonly requestId: string }
  | { readonly type: "note"; readonly ids: readonly string[]; readonly detail: JsonObject }
  | { readonly type: "end"; readonly ids: readonly string[]; readonly outcome: JsonObject }
  | { readonly type: "remember"; readonly requestId: string; readonly outcome: JsonObject };

export type WriterEvent =
  | { readonly starting: number }
  | { readonly opened: JournalReport; readonly read: JournalReport }
  | { readonly refused: string }
  | { readonly ask: number; readonly call: Call }
  | { readonly ack: number }
  | { readonly failed: number; readonly code: string }
  | { readonly stopped: string; readonly late: string }
  | { readonly counters: { readonly compactions: number; readonly flushes: number } };

interface Operation {
  state: "asked" | "open" | "ending" | "gone";
  readonly ask: number;
  readonly requestId: string | null;
  notes: JsonObject[];
  /** Asked for, in order, and neither acknowledged nor refused. */
  askedNotes: JsonObject[];
  outcome: JsonObject | null;
}

interface Request {
  /** Its record was acknowledged, or a reader saw it. */
  isKept: boolean;
  outcome: JsonValue;
  /** An outcome that was asked for. */
  askedOutcome: JsonValue;
}

/** What the writers of one journal were promised, against what each later reader finds. */
export class Ledger {
  acknowledged = 0;
  /** The highest segment that a reader saw. */
  segment = 0;
  /** Torn batches that readers met. */
  torn = 0;
  readonly violations: string[] = [];
  readonly refusals: string[] = [];
  readonly codes = new Map<string, number>();
  readonly stops: { readonly stopped: string; readonly late: string }[] = [];
  compactions = 0;
  readonly #calls = new Map<number, Call>();
  readonly #operations = new Map<string, Operation>();
  readonly #requests = new Map<string, Request>();

  take(event: WriterEvent): void {
    try {
      this.#take(event);
    } catch (error) {
      this.violations.push(`${JSON.stringify(event)}: ${String(error)}`);
    }
  }

  #take(event: WriterEvent): void {
    if ("ask" in event) this.#asked(event.ask, event.call);
    else if ("ack" in event) this.#acknowledged(event.ack);
    else if ("failed" in event) this.#failed(event.failed, event.code);
    else if ("opened" in event) this.#opened(event.opened, event.read);
    else if ("refused" in event) this.refusals.push(event.refused);
    else if ("stopped" in event) this.stops.push(event);
    else if ("counters" in event) this.compactions += event.counters.compactions;
    else this.#calls.clear();
  }

  #asked(ask: number, call: Call): void {
    this.#calls.set(ask, call);
    switch (call.type) {
      case "begin":
      case "restore":
      case "admit": {
        const requestId = call.type === "admit" ? call.requestId : null;
        for (const id of call.ids)
          this.#operations.set(id, { state: "asked", ask, requestId, notes: [], askedNotes: [], outcome: null });
        if (requestId !== null) this.#requests.set(requestId, { isKept: false, outcome: null, askedOutcome: null });
        return;
      }
      case "note":
        this.#operation(call).askedNotes.push(call.detail);
        return;
      case "end": {
        const operation = this.#operation(call);
        operation.state = "ending";
        operation.outcome = call.outcome;
        const request = this.#requests.get(operation.requestId ?? "");
        if (request !== undefined) request.askedOutcome = call.outcome;
        return;
      }
      case "remember":
        this.#requests.set(call.requestId, { isKept: false, outcome: null, askedOutcome: call.outcome });
    }
  }

  #acknowledged(ask: number): void {
    this.acknowledged += 1;
    const call = this.#call(ask);
    if (call.type === "note") {
      const operation = this.#operation(call);
      operation.notes.push(...operation.askedNotes.splice(0, 1));
    } else if (call.type === "end") {
      const operation = this.#operation(call);
      operation.state = "gone";
      this.#settle(operation.requestId);
    } else if (call.type === "remember") {
      this.#settle(call.requestId);
    } else {
      for (const id of call.ids) this.#need(id).state = "open";
      if (call.type === "admit") this.#keep(call.requestId);
    }
  }

  /** What was surely refused was never asked for. */
  #failed(ask: number, code: string): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    if (UNKNOWN_CODES.has(code)) return;
    const call = this.#call(ask);
    if (call.type === "note") this.#operation(call).askedNotes.pop();
    else if (call.type === "end") {
      const operation = this.#operation(call);
      operation.state = "open";
      const request = this.#requests.get(operation.requestId ?? "");
      if (request !== undefined) request.askedOutcome = null;
    } else {
      if (call.type !== "remember") for (const id of call.ids) this.#operations.delete(id);
      if (call.type === "admit" || call.type === "remember") this.#requests.delete(call.requestId);
    }
  }

  #opened(report: JournalReport, read: JournalReport): void {
    if (!isDeepStrictEqual(report, read)) this.violations.push("a reader and the next owner find different things");
    if (report.kind === "refused") this.violations.push(`refused: ${report.message}`);
    if (report.kind === "fresh" && this.acknowledged > 0) this.violations.push("the journal is gone");
    if (report.kind !== "ok") return;
    this.segment = report.segment;
    if (report.tornBytes > 0) this.torn += 1;
    this.#compareOperations(report);
    this.#compareRequests(report);
  }

  #compareOperations(report: JournalReport & { kind: "ok" }): void {
    const found = new Map(report.open.map((operation) => [operation.operationId, operation]));
    for (const id of found.keys()) if (!this.#operations.has(id)) this.violations.push(`nobody asked for ${id}`);
    const inPart = new Map<number, boolean>();
    for (const [id, operation] of this.#operations) {
      const open = found.get(id);
      if (operation.state === "open" && open === undefined) this.violations.push(`${id} was acknowledged and is lost`);
      if (operation.state === "gone" && open !== undefined) this.violations.push(`${id} was ended and is open again`);
      if (operation.state === "asked") {
        if ((inPart.get(operation.ask) ?? open !== undefined) !== (open !== undefined))
          this.violations.push(`${id} was begun in part of its list`);
        inPart.set(operation.ask, open !== undefined);
      }
      if (open !== undefined) this.#compareNotes(id, operation, open.notes);
      // From here on it is as this reader found it.
      operation.state = open === undefined ? "gone" : "open";
    }
    for (const [id, { state }] of this.#operations) if (state === "gone") this.#operations.delete(id);
  }

  #compareNotes(id: string, operation: Operation, found: readonly JsonObject[]): void {
    const possible = [...operation.notes, ...operation.askedNotes];
    if (found.length < operation.notes.length) this.violations.push(`a note of ${id} is lost`);
    if (!isDeepStrictEqual(found, possible.slice(0, found.length))) this.violations.push(`the notes of ${id} differ`);
    operation.notes = [...found];
    operation.askedNotes = [];
  }

  #compareRequests(report: JournalReport & { kind: "ok" }): void {
    const found = new Map(report.remembered.map((request) => [request.requestId, request]));
    for (const id of found.keys()) if (!this.#requests.has(id)) this.violations.push(`nobody asked for ${id}`);
    let newer = this.#requests.size;
    for (const [id, request] of this.#requests) {
      newer -= 1;
      const seen = found.get(id);
      if (seen === undefined) {
        if (request.isKept && newer < SURELY_KEPT) this.violations.push(`request ${id} is forgotten`);
        this.#requests.delete(id);
        continue;
      }
      const isRight = [request.outcome, request.askedOutcome ?? request.outcome].some((outcome) =>
        isDeepStrictEqual(seen.outcome, outcome),
      );
      if (!isRight) this.violations.push(`request ${id} has another outcome`);
      this.#requests.set(id, { isKept: true, outcome: seen.outcome, askedOutcome: null });
    }
  }

  #keep(requestId: string): void {
    const request = this.#requests.get(requestId);
    if (request !== undefined) request.isKept = true;
  }

  #settle(requestId: string | null): void {
    const request = this.#requests.get(requestId ?? "");
    if (request === undefined) return;
    this.#requests.set(requestId ?? "", { isKept: true, outcome: request.askedOutcome, askedOutcome: null });
  }

  #call(ask: number): Call {
    const call = this.#calls.get(ask);
    if (call === undefined) throw new Error(`call ${ask} was not asked for`);
    return call;
  }

  #operation(call: Call & { readonly ids: readonly string[] }): Operation {
    return this.#need(call.ids[0] ?? "");
  }

  #need(id: string): Operation {
    const operation = this.#operations.get(id);
    if (operation === undefined) throw new Error(`operation ${id} is not known`);
    return operation;
  }
}
