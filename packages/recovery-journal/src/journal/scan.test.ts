import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { LF } from "../format/line.ts";
import { openSimulated, SIMULATED_DIRECTORY, SIMULATED_KINDS, SimulatedDisk } from "../testing/index.ts";
import type { JournalReport } from "../types.ts";
import { readJournal } from "./read.ts";
import { type SegmentScan, scanSegment } from "./scan.ts";

const PATH = `${SIMULATED_DIRECTORY}/e00000001.jsonl`;
let bytes: Buffer;
/** Ends of the lines with content, the last one the mark's. */
let lineEnds: number[];

const scan = (changed: Uint8Array): SegmentScan => scanSegment(changed, { segment: 1, kinds: SIMULATED_KINDS });
const openIds = (result: SegmentScan): string[] | null =>
  result.kind === "whole" ? [...result.state.open.keys()] : null;

beforeAll(async () => {
  const disk = new SimulatedDisk();
  const journal = await openSimulated(disk);
  for (const operationId of ["a", "b", "c"]) {
    const token = await journal.begin({ operationId, generation: "g1", kind: "prompt" });
    await journal.note(token, { step: "dispatched" });
    if (operationId === "a") await journal.end(token, { kind: "done" });
  }
  bytes = disk.contentOf(PATH);
  const text = bytes.toString("latin1").trimEnd();
  lineEnds = [...text.matchAll(/\n/g)].map(({ index }) => index + 1).concat(text.length + 1);
});

describe("damage to a segment", () => {
  it("I93 I140 opens after a tear at any byte of the last record, and later appends are intact", async () => {
    const [start = 0, end = 0] = lineEnds.slice(-4, -2);
    for (let length = start; length <= end; length += 7) {
      const disk = new SimulatedDisk();
      await openSimulated(disk);
      disk.plant(PATH, Buffer.concat([bytes.subarray(0, length), Buffer.alloc(bytes.length - length, LF)]));
      const journal = await openSimulated(disk);
      await journal.begin({ operationId: "later", generation: "g1", kind: "tool" });
      expect(idsOf(readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, disk))).toContain("later");
    }
  });

  it("I71 never reads a segment with one changed byte as something else", () => {
    const end = lineEnds.at(-1) ?? 0;
    const wrong: [place: number, value: number][] = [];
    for (let place = 0; place < end; place += 1) {
      for (const value of [0, 0x0a, (bytes[place] ?? 0) ^ 0x01, (bytes[place] ?? 0) ^ 0x80]) {
        if (value === bytes[place]) continue;
        const changed = Buffer.from(bytes.subarray(0, end + 64));
        changed[place] = value;
        const ids = openIds(scan(changed));
        if (ids !== null && ids.join() !== "b,c") wrong.push([place, value]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("I140 tells a block of NULs over durable records, wherever it is", () => {
    const [sealEnd = 0, markStart = 0] = [lineEnds[1], lineEnds.at(-2)];
    for (let start = sealEnd; start < markStart - 40; start += 11) {
      const changed = Buffer.from(bytes);
      changed.fill(0, start, start + 30);
      expect([start, scan(changed).kind]).toEqual([start, "corrupt"]);
    }
  });

  it("takes damage behind the last durable record for a torn tail", () => {
    const end = lineEnds.at(-1) ?? 0;
    const changed = Buffer.from(bytes);
    changed.write('{"s":99,"d":98,"t":"be', end);
    expect(scan(changed)).toMatchObject({ kind: "whole", tornBytes: 22 });
  });

  it("scans any bytes at all without throwing", () => {
    fc.assert(
      fc.property(fc.nat(bytes.length), fc.uint8Array({ maxLength: 200 }), (place, patch) => {
        const changed = Buffer.from(bytes);
        changed.set(patch.subarray(0, bytes.length - place), place);
        expect(["whole", "unfinished", "corrupt", "unsupported"]).toContain(scan(changed).kind);
      }),
      { numRuns: 200 },
    );
  });
});

function idsOf(report: JournalReport): string[] {
  return report.kind === "ok" ? report.open.map(({ operationId }) => operationId) : [];
}
