import { describe, expect, it } from "vitest";
import type { OpenOperation, Quarantine, RememberedRequest } from "../types.ts";
import type { Entry } from "./entry.ts";
import { Ledger } from "./ledger.ts";

const operation = (operationId: string, notes: OpenOperation["notes"] = []): OpenOperation => {
  return { operationId, generation: "g", kind: "prompt", detail: {}, notes, sequence: 1 };
};

interface Found {
  readonly open?: readonly OpenOperation[];
  readonly remembered?: readonly RememberedRequest[];
  readonly quarantines?: readonly Quarantine[];
}

/** Of a journal with this in it, after this was asked and told. */
function problemsOf(entries: readonly Entry[], { open = [], remembered = [], quarantines = [] }: Found): string {
  const ledger = new Ledger();
  for (const entry of entries) ledger.take(entry);
  const owner = { generation: "g", identity: {} };
  const rest = { segment: 1, owner, released: false, tornBytes: 0 };
  return ledger.judge({ kind: "ok", ...rest, open, remembered, quarantines }).join();
}

const asked: Entry = { ask: 1, call: { type: "admit", ids: ["a"], requestId: "r" } };
const ended: Entry = { ask: 2, call: { type: "end", ids: ["a"], outcome: { by: "o" } } };
const restored: Entry = { ask: 1, call: { type: "restore", ids: ["a", "b"] } };
const noted: Entry = { ask: 2, call: { type: "note", ids: ["a"], detail: { name: "n" } } };
const request = (outcome: RememberedRequest["outcome"]): RememberedRequest => {
  return { requestId: "r", hash: "h", outcome, at: 1 };
};

const quarantine: Quarantine = { id: "q", evidence: null, sha256: null, why: "missing", reason: "", at: 1 };
const putAside: Entry = { ask: 1, call: { type: "quarantine", id: "q" } };
const resolved: Entry = { ask: 2, call: { type: "resolve", id: "q" } };
const told: Entry = { ack: 1 };
const toldToo: Entry = { ack: 2 };

describe("the ledger by which journals are judged", () => {
  it.each([
    ["a begin that happened", [asked], { open: [operation("a")], remembered: [request(null)] }],
    ["one that did not", [asked], {}],
    ["an end that happened", [asked, told, ended], { remembered: [request({ by: "o" })] }],
    ["one that did not", [asked, told, ended], { open: [operation("a")], remembered: [request(null)] }],
    ["a list that began", [restored], { open: [operation("a"), operation("b")] }],
    ["a quarantine that happened", [putAside], { quarantines: [quarantine] }],
    ["a resolution that did not", [putAside, told, resolved], { quarantines: [quarantine] }],
    ["one that did", [putAside, told, resolved], {}],
  ] as const)("lets be what was not acknowledged: %s", (_, entries, found) => {
    expect(problemsOf(entries, found)).toBe("");
  });

  it.each([
    ["a begin that is lost", [asked, told], { remembered: [request(null)] }, "a was acknowledged and is lost"],
    ["a request that is lost", [asked, told], { open: [operation("a")] }, "request r is forgotten"],
    ["an end that is lost", [asked, told, ended, toldToo], { open: [operation("a")] }, "a was ended and is open again"],
    ["an outcome that is lost", [asked, told, ended, toldToo], { remembered: [request(null)] }, "another outcome"],
    ["a note that is lost", [asked, told, noted, toldToo], { open: [operation("a")] }, "a note of a is lost"],
    ["another note", [asked, told, noted], { open: [operation("a", [{ name: "m" }])] }, "the notes of a differ"],
    ["a list begun in part", [restored], { open: [operation("b")] }, "b was begun in part of its list"],
    ["what was refused", [asked, { refused: 1 }], { open: [operation("a")] }, "nobody asked for a"],
    ["an outcome that nobody asked for", [asked, told], { remembered: [request({ by: "p" })] }, "another outcome"],
    ["a quarantine that is lost", [putAside, told], {}, "q was acknowledged and is lost"],
    ["one that is there again", [putAside, told, resolved, toldToo], { quarantines: [quarantine] }, "q was ended"],
    ["one that nobody asked for", [], { quarantines: [quarantine] }, "nobody asked for q"],
  ] as const)("names %s", (_, entries, found, problem) => {
    expect(problemsOf(entries, found)).toContain(problem);
  });

  it("takes what a reader found for what is there", () => {
    const ledger = new Ledger();
    const owner = { generation: "g", identity: {} };
    const rest = {
      kind: "ok",
      segment: 1,
      owner,
      released: false,
      tornBytes: 0,
      remembered: [],
      quarantines: [],
    } as const;
    ledger.take(asked);
    ledger.bind({ ...rest, open: [operation("a")] });
    expect(ledger.judge({ ...rest, open: [] })).toEqual(["a was acknowledged and is lost"]);
    ledger.bind({ ...rest, open: [] });
    expect(ledger.judge({ ...rest, open: [operation("a")] })).toEqual(["nobody asked for a"]);
    expect(ledger.judge({ kind: "fresh" })).toEqual(["the journal is gone"]);
  });
});
