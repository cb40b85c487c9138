import { isDeepStrictEqual } from "node:util";
import type { FileSystem } from "../file-system.ts";
import { readJournal } from "../journal/read.ts";
import { SIMULATED_DIRECTORY, SIMULATED_KINDS } from "../testing/open-simulated.ts";
import type { JournalReport, JsonObject } from "../types.ts";
import type { Asked, Call, Entry } from "./entry.ts";

interface Operation {
  state: "asked" | "open" | "ending" | "gone";
  /** The call that began it. */
  readonly ask: Asked;
  readonly requestId: string | null;
  readonly notes: readonly JsonObject[];
  /** Asked for, in order, and neither acknowledged nor refused. */
  readonly askedNotes: readonly JsonObject[];
}

interface Request {
  /** Its record was acknowledged, or a reader saw it. */
  readonly isKept: boolean;
  readonly outcome: JsonObject | null;
  /** Outcomes that were asked for and neither acknowledged nor refused. */
  readonly askedOutcomes: readonly JsonObject[];
}

/** What the writers of one journal asked and were told, against what a reader finds: the one measure of every crash. */
export class Ledger {
  acknowledged = 0;
  /** Changes whenever something was asked or told. */
  version = 0;
  /** A request with fewer newer ones than this cannot have been forgotten. */
  readonly #surelyKept: number;
  /** `unsure`: it may be there or not. */
  #journal: "unsure" | "there" | "removed" = "unsure";
  #calls = new Map<Asked, Call>();
  #operations = new Map<string, Operation>();
  #requests = new Map<string, Request>();
  #quarantines = new Map<string, Operation["state"]>();

  constructor(surelyKept = Number.POSITIVE_INFINITY) {
    this.#surelyKept = surelyKept;
  }

  /** A ledger of what a report says: nothing of it may change any more. */
  static of(report: JournalReport): Ledger {
    const ledger = new Ledger();
    ledger.bind(report);
    return ledger;
  }

  copy(): Ledger {
    const ledger = new Ledger(this.#surelyKept);
    [ledger.acknowledged, ledger.version, ledger.#journal] = [this.acknowledged, this.version, this.#journal];
    ledger.#calls = new Map(this.#calls);
    ledger.#operations = structuredClone(this.#operations);
    ledger.#requests = new Map(this.#requests);
    ledger.#quarantines = new Map(this.#quarantines);
    return ledger;
  }

  take(entry: Entry): void {
    this.version += 1;
    if ("call" in entry) {
      this.#calls.set(entry.ask, entry.call);
      this.#asked(entry.ask, entry.call);
    } else if ("ack" in entry) {
      this.acknowledged += 1;
      this.#told(this.#call(entry.ack));
    } else if ("refused" in entry) {
      this.#refused(this.#call(entry.refused));
    } else {
      this.#became(entry.journal);
    }
  }

  /** From here on all is as this reader found it. The journal was opened: calls of a former writer are answered no more. */
  bind(report: JournalReport): void {
    this.version += 1;
    this.#calls.clear();
    const before = this.#operations;
    const nothing = { open: [], remembered: [], quarantines: [] };
    const { open, remembered, quarantines } = report.kind === "ok" ? report : nothing;
    if (report.kind === "ok") this.#journal = "there";
    this.#operations = new Map(
      open.map(({ operationId: id, notes }) => {
        const { ask = "bound", requestId = null } = before.get(id) ?? {};
        return [id, { state: "open", ask, requestId, notes, askedNotes: [] }];
      }),
    );
    this.#requests = new Map(
      remembered.map(({ requestId, outcome }) => [requestId, { isKept: true, outcome, askedOutcomes: [] }]),
    );
    this.#quarantines = new Map(quarantines.map(({ id }) => [id, "open"]));
  }

  /** What is wrong with a report: nothing, when it is one that a crash now may leave. */
  judge(report: JournalReport): readonly string[] {
    if (report.kind === "refused") return [`refused: ${report.why}, ${report.message}`];
    if (report.kind === "fresh") return this.#journal === "there" ? ["the journal is gone"] : [];
    if (this.#journal === "removed") return ["a removed journal is there again"];
    const quarantines = new Set(report.quarantines.map(({ id }) => id));
    return [
      ...this.#wrongOperations(report),
      ...this.#wrongRequests(report),
      ...wrongStates(this.#quarantines, quarantines),
    ];
  }

  judgeDisk(fs: FileSystem): readonly string[] {
    return this.judge(readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, fs));
  }

  #asked(ask: Asked, call: Call): void {
    switch (call.type) {
      case "begin":
      case "restore":
      case "admit": {
        const requestId = call.type === "admit" ? call.requestId : null;
        for (const id of call.ids)
          this.#operations.set(id, { state: "asked", ask, requestId, notes: [], askedNotes: [] });
        if (requestId !== null) this.#requests.set(requestId, { isKept: false, outcome: null, askedOutcomes: [] });
        return;
      }
      case "note":
        this.#change(call, ({ askedNotes }) => ({ askedNotes: [...askedNotes, call.detail] }));
        return;
      case "end": {
        const operation = this.#change(call, ({ state }) => ({ state: state === "gone" ? state : "ending" }));
        this.#askOutcome(operation?.requestId, call.outcome);
        return;
      }
      case "remember":
        if (!this.#requests.has(call.requestId)) {
          this.#requests.set(call.requestId, { isKept: false, outcome: null, askedOutcomes: [] });
        }
        this.#askOutcome(call.requestId, call.outcome);
        return;
      case "quarantine":
        this.#quarantines.set(call.id, "asked");
        return;
      case "resolve":
        if (this.#quarantines.get(call.id) === "open") this.#quarantines.set(call.id, "ending");
    }
  }

  #told(call: Call): void {
    switch (call.type) {
      case "begin":
      case "restore":
      case "admit":
        for (const id of call.ids) {
          this.#change({ ids: [id] }, ({ state }) => ({ state: state === "asked" ? "open" : state }));
        }
        if (call.type === "admit") this.#settle(call.requestId, null);
        return;
      case "note":
        this.#change(call, ({ state, notes, askedNotes: [first, ...rest] }) => {
          const all = first === undefined ? notes : [...notes, first];
          return { state: state === "asked" ? "open" : state, notes: all, askedNotes: rest };
        });
        return;
      case "end":
        this.#settle(this.#change(call, () => ({ state: "gone" }))?.requestId, call.outcome);
        return;
      case "remember":
        this.#settle(call.requestId, call.outcome);
        return;
      case "quarantine":
        this.#journal = "there";
        this.#quarantines.set(call.id, "open");
        return;
      case "resolve":
        this.#quarantines.set(call.id, "gone");
    }
  }

  /** What was surely refused was never asked for. */
  #refused(call: Call): void {
    switch (call.type) {
      case "begin":
      case "restore":
      case "admit":
        for (const id of call.ids) this.#operations.delete(id);
        if (call.type === "admit") this.#requests.delete(call.requestId);
        return;
      case "note":
        this.#change(call, ({ askedNotes }) => ({ askedNotes: askedNotes.slice(0, -1) }));
        return;
      case "end": {
        const operation = this.#change(call, () => ({ state: "open" }));
        const request = this.#requests.get(operation?.requestId ?? "");
        if (request !== undefined) this.#requests.set(operation?.requestId ?? "", { ...request, askedOutcomes: [] });
        return;
      }
      case "remember":
        this.#requests.delete(call.requestId);
        return;
      case "quarantine":
        this.#quarantines.delete(call.id);
        return;
      case "resolve":
        this.#quarantines.set(call.id, "open");
    }
  }

  #became(what: Extract<Entry, { journal: string }>["journal"]): void {
    if (what === "opened") this.#journal = "there";
    else if (what === "removed") this.#journal = "removed";
    else if (what === "removing") {
      // Nothing of it is open, and what it remembers goes with it.
      this.#journal = "unsure";
      for (const [id, request] of this.#requests) this.#requests.set(id, { ...request, isKept: false });
    } else if (this.#journal === "removed") this.#journal = "unsure";
  }

  #wrongOperations(report: JournalReport & { kind: "ok" }): readonly string[] {
    const found = new Map(report.open.map((operation) => [operation.operationId, operation]));
    const states = new Map([...this.#operations].map(([id, { state }]) => [id, state]));
    const problems = wrongStates(states, new Set(found.keys()));
    const lists = new Map<Asked, boolean>();
    for (const [id, { state, ask, notes, askedNotes }] of this.#operations) {
      const open = found.get(id);
      const isOpen = open !== undefined;
      if (state === "asked" && (lists.get(ask) ?? isOpen) !== isOpen)
        problems.push(`${id} was begun in part of its list`);
      if (state === "asked") lists.set(ask, isOpen);
      if (open === undefined) continue;
      if (open.notes.length < notes.length) problems.push(`a note of ${id} is lost`);
      if (!isDeepStrictEqual(open.notes, [...notes, ...askedNotes].slice(0, open.notes.length))) {
        problems.push(`the notes of ${id} differ`);
      }
    }
    return problems;
  }

  #wrongRequests(report: JournalReport & { kind: "ok" }): readonly string[] {
    const found = new Map(report.remembered.map(({ requestId, outcome }) => [requestId, outcome]));
    const problems = strangers(this.#requests, found.keys());
    let newer = this.#requests.size;
    for (const [id, { isKept, outcome, askedOutcomes }] of this.#requests) {
      newer -= 1;
      const seen = found.get(id);
      if (seen === undefined) {
        if (isKept && newer < this.#surelyKept) problems.push(`request ${id} is forgotten`);
      } else if (![outcome, ...askedOutcomes].some((possible) => isDeepStrictEqual(seen, possible))) {
        problems.push(`request ${id} has another outcome`);
      }
    }
    return problems;
  }

  /** Nothing, for an operation that nobody asked for: that it is there is found where it is read. */
  #change(
    call: { readonly ids: readonly string[] },
    change: (operation: Operation) => Partial<Operation>,
  ): Operation | null {
    const [id = ""] = call.ids;
    const operation = this.#operations.get(id);
    if (operation === undefined) return null;
    const changed = { ...operation, ...change(operation) };
    this.#operations.set(id, changed);
    return changed;
  }

  #askOutcome(id: string | null | undefined, outcome: JsonObject): void {
    const request = this.#requests.get(id ?? "");
    if (request === undefined) return;
    this.#requests.set(id ?? "", { ...request, askedOutcomes: [...request.askedOutcomes, outcome] });
  }

  #settle(id: string | null | undefined, outcome: JsonObject | null): void {
    const request = this.#requests.get(id ?? "");
    if (request === undefined) return;
    this.#requests.set(id ?? "", {
      isKept: true,
      outcome,
      askedOutcomes: outcome === null ? request.askedOutcomes : [],
    });
  }

  #call(ask: Asked): Call {
    const call = this.#calls.get(ask);
    if (call === undefined) throw new Error(`call ${ask} was not asked for`);
    return call;
  }
}

function wrongStates(states: ReadonlyMap<string, Operation["state"]>, found: ReadonlySet<string>): string[] {
  const problems = strangers(states, found);
  for (const [id, state] of states) {
    if (state === "open" && !found.has(id)) problems.push(`${id} was acknowledged and is lost`);
    if (state === "gone" && found.has(id)) problems.push(`${id} was ended and is open again`);
  }
  return problems;
}

function strangers(known: ReadonlyMap<string, unknown>, found: Iterable<string>): string[] {
  return [...found].filter((id) => !known.has(id)).map((id) => `nobody asked for ${id}`);
}
