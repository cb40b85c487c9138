import { describe, expect, it } from "vitest";
import type { JournalReport, OpenOperation, RememberedRequest } from "../../src/index.ts";
import { Ledger, type WriterEvent } from "./ledger.ts";

const operation = (operationId: string, notes: OpenOperation["notes"] = []): OpenOperation => {
  return { operationId, generation: "g", kind: "prompt", detail: {}, notes, sequence: 1 };
};

function found(open: readonly OpenOperation[], remembered: readonly RememberedRequest[] = []): WriterEvent {
  const owner = { generation: "g", identity: {} };
  const rest = { released: false, quarantines: [], tornBytes: 0 };
  const report: JournalReport = { kind: "ok", segment: 1, owner, open, remembered, ...rest };
  return { opened: report, read: report };
}

function violationsOf(...events: readonly WriterEvent[]): readonly string[] {
  const ledger = new Ledger();
  for (const event of events) ledger.take(event);
  return ledger.violations;
}

const asked: WriterEvent = { ask: 1, call: { type: "admit", ids: ["a"], requestId: "r" } };
const ended: WriterEvent = { ask: 2, call: { type: "end", ids: ["a"], outcome: { by: "o" } } };
const restored: WriterEvent = { ask: 1, call: { type: "restore", ids: ["a", "b"] } };
const noted: WriterEvent = { ask: 2, call: { type: "note", ids: ["a"], detail: { name: "n" } } };
const request = (outcome: RememberedRequest["outcome"]): RememberedRequest => {
  return { requestId: "r", hash: "h", outcome, at: 1 };
};

describe("the ledger by which journals are judged", () => {
  it("lets a call that was not acknowledged have happened or not", () => {
    expect(violationsOf(asked, found([]))).toEqual([]);
    expect(violationsOf(asked, found([operation("a")], [request(null)]))).toEqual([]);
    const open = [asked, { ack: 1 }, ended];
    expect(violationsOf(...open, found([operation("a")], [request(null)]))).toEqual([]);
    expect(violationsOf(...open, found([], [request({ by: "o" })]))).toEqual([]);
  });

  it.each([
    ["a begin that is lost", [asked, { ack: 1 }, found([], [request(null)])], "a was acknowledged and is lost"],
    ["a request that is lost", [asked, { ack: 1 }, found([operation("a")])], "request r is forgotten"],
    [
      "an end that is lost",
      [asked, { ack: 1 }, ended, { ack: 2 }, found([operation("a")], [request({ by: "o" })])],
      "a was ended and is open again",
    ],
    [
      "an outcome that is lost",
      [asked, { ack: 1 }, ended, { ack: 2 }, found([], [request(null)])],
      "request r has another outcome",
    ],
    ["a note that is lost", [asked, { ack: 1 }, noted, { ack: 2 }, found([operation("a")])], "a note of a is lost"],
    ["a list begun in part", [restored, found([operation("b")])], "b was begun in part of its list"],
    ["what was refused", [asked, { failed: 1, code: "disk_full" }, found([operation("a")])], "nobody asked for a"],
    ["what one reader saw and the next does not", [asked, found([operation("a")]), found([])], "a was acknowledged"],
    ["what one reader did not see and the next does", [asked, found([]), found([operation("a")])], "nobody asked"],
  ] as const)("names %s", (_, events, violation) => {
    expect(violationsOf(...events).join()).toContain(violation);
  });
});
