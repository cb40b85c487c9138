import fc from "fast-check";
import { assert, expect, it } from "vitest";
import type { LiveRecord } from "../format/records.ts";
import { encodeRecord, LF } from "../format/line.ts";
import { SimulatedDisk, simulatedOptions } from "../testing/index.ts";
import { prompt } from "./journal.testing.ts";
import { openJournal } from "./open.ts";
import { scanSegment } from "./scan.ts";
import { buildImage } from "./segment-image.ts";
import { applyRecord, emptyState, type JournalState } from "./state.ts";

const kinds = ["prompt"];
const id = fc.constantFrom("a", "b", "c", "d");
const detail = fc.dictionary(fc.string({ maxLength: 5 }), fc.string({ unit: "binary", maxLength: 8 }), { maxKeys: 2 });
const record: fc.Arbitrary<LiveRecord> = fc.oneof(
  fc.record({ id, detail, req: fc.option(id) }).map(({ id: operation, detail: text, req }): LiveRecord => {
    const ops = [{ id: operation, g: "g", k: "prompt", detail: text }];
    return { t: "begin", ops, req: req === null ? null : { id: `r-${req}`, hash: "h", at: 1 } };
  }),
  fc.record({ id, detail }).map((fields): LiveRecord => ({ t: "note", g: "g", ...fields })),
  fc.record({ id, outcome: detail }).map((fields): LiveRecord => ({ t: "end", g: "g", ...fields })),
  fc.record({ id, outcome: detail }).map((fields): LiveRecord => ({ t: "request", hash: "h", at: 2, ...fields })),
  fc.record({ id, resolution: detail }).map((fields): LiveRecord => ({ t: "resolve", ...fields })),
);

/** A journal that begins with quarantines: none is made later in its life. */
function firstState(): JournalState {
  const state = emptyState();
  const digest = "5".repeat(64);
  const damaged = { id: "a", evidence: "quarantine-00000001-55555555.jsonl", sha256: digest, why: "corrupt" } as const;
  applyRecord(state, { t: "quarantine", ...damaged, reason: "damaged", at: 1 });
  applyRecord(state, { t: "quarantine", id: "b", evidence: null, sha256: null, why: "missing", reason: "gone", at: 2 });
  return state;
}

/** The records that fit one after the other, as a writer admits them. */
function admitted(records: readonly LiveRecord[]): { state: JournalState; records: readonly LiveRecord[] } {
  const state = firstState();
  return {
    state,
    records: records.filter(
      (candidate) => applyRecord(structuredClone(state), candidate) === null && applyRecord(state, candidate) === null,
    ),
  };
}

const imageOf = (state: JournalState) => {
  const owner = { generation: "g", identity: {} };
  const image = buildImage({ segment: 7, owner, state, pendingBytes: 8000, pendingOperations: 0, isShrinking: false });
  return image ?? expect.unreachable("the state fits");
};

it("I67 I70 replay(compact(j)) = replay(j), for every journal", () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 30 }), (records) => {
      const { state } = admitted(records);
      const scan = scanSegment(imageOf(state).bytes, { segment: 7, kinds });
      expect(scan).toEqual(expect.objectContaining({ kind: "whole", tornBytes: 0, state }));
    }),
    { numRuns: 150 },
  );
});

it("I140 every prefix of a journal scans to the state of its whole records", () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 20 }), fc.nat(5000), (records, cut) => {
      const whole = admitted(records).records;
      const image = imageOf(firstState());
      let end = image.offset;
      const states: { readonly end: number; readonly count: number }[] = [{ end, count: 0 }];
      whole.forEach((item, index) => {
        const place = { sequence: image.sequence + 1 + index, durable: image.sequence };
        const line = encodeRecord(JSON.stringify(item), place, image.seed);
        image.bytes.set(line, end);
        end += line.length;
        states.push({ end, count: index + 1 });
      });
      const length = image.offset + (cut % (end - image.offset + 1));
      // What never landed is still the fill, which also ends the line whose own end is missing.
      const expected = states.findLast((state) => state.end - 1 <= length)?.count ?? 0;
      const bytes = Buffer.concat([image.bytes.subarray(0, length), Buffer.alloc(image.bytes.length - length, LF)]);
      const scan = scanSegment(bytes, { segment: 7, kinds });
      expect(scan).toEqual(expect.objectContaining({ kind: "whole", state: admitted(whole.slice(0, expected)).state }));
    }),
    { numRuns: 150 },
  );
});

it("I71 a note costs the same however many the operation has, and changes nothing that was reported", async () => {
  const disk = new SimulatedDisk();
  const opened = await openJournal(simulatedOptions(disk));
  assert(opened.kind === "opened");
  const token = await opened.journal.begin(prompt("a"));
  await opened.journal.note(token, { step: 1 });
  const again = await openJournal(simulatedOptions(disk));
  assert(again.kind === "opened" && again.report.kind === "ok");
  const adopted = again.journal.adopt(token);
  assert(adopted !== null);
  await again.journal.note(adopted, { step: 2 });
  expect([again.report.open, again.journal.open()]).toMatchObject([
    [{ notes: [{ step: 1 }] }],
    [{ notes: [{ step: 1 }, { step: 2 }] }],
  ]);
  const state = emptyState();
  const operation = { id: "a", g: "g", k: "tool", detail: {} };
  expect(applyRecord(state, { t: "begin", ops: [operation], req: null })).toBeNull();
  const list = state.open.get("a")?.notes;
  for (let count = 1; count <= 3; count += 1) applyRecord(state, { t: "note", id: "a", g: "g", detail: { count } });
  expect(state.open.get("a")?.notes).toBe(list);
});
