import { CodedError } from "@holdfast/shared-process";
import { describe, expect, it } from "vitest";
import { CAPACITY_MAX_BYTES, OWNER_MAX_BYTES, READER_SEGMENT_MAX_BYTES } from "../format.ts";
import {
  openSimulated,
  SIMULATED_DIRECTORY,
  SIMULATED_KINDS,
  SimulatedDisk,
  type SimulatedKind,
} from "../testing/index.ts";
import type { Journal, JsonObject } from "../types.ts";
import { readJournal } from "./read.ts";

const KIB = 1024;

const prompt = (index: number, detail: JsonObject = {}) =>
  ({ operationId: `op-${index}`, generation: "g1", kind: "prompt", detail }) as const;

type Step = (journal: Journal<SimulatedKind>, index: number) => Promise<unknown>;

/** What takes more bytes in a snapshot than it took as a record, or as many. */
const hungry: readonly (readonly [string, Step])[] = [
  [
    "requests with long ids",
    (journal, index) => journal.admit(prompt(index), { requestId: `${index}-${"r".repeat(300 * KIB)}`, hash: "h" }),
  ],
  [
    "restored operations",
    (journal, index) =>
      journal.restore(Array.from({ length: 8 }, (_, nth) => prompt(8 * index + nth, { text: "x".repeat(4 * KIB) }))),
  ],
  [
    "small operations by the hundred",
    (journal, index) => journal.restore(Array.from({ length: 100 }, (_, nth) => prompt(100 * index + nth))),
  ],
  [
    "notes",
    async (journal, index) => {
      const token = await journal.begin(prompt(index));
      await journal.note(token, { text: "x".repeat(200 * KIB) });
    },
  ],
  [
    "large outcomes",
    async (journal, index) => {
      const token = await journal.admit(prompt(index), { requestId: `q${index}`, hash: "h" });
      await journal.begin({ ...prompt(index), operationId: `kept-${index}`, detail: { text: "x".repeat(100 * KIB) } });
      await journal.end(token, { text: "x".repeat(200 * KIB) });
    },
  ],
];

/** Steps until one is refused; answers why. */
async function fill(journal: Journal<SimulatedKind>, step: Step): Promise<string> {
  for (let index = 0; index < 200; index += 1) {
    try {
      await step(journal, index);
    } catch (error) {
      return error instanceof CodedError ? error.code : "another error";
    }
  }
  return "never full";
}

const segmentBytes = (disk: SimulatedDisk): number =>
  Math.max(...disk.readdir(SIMULATED_DIRECTORY).map((name) => disk.contentOf(`${SIMULATED_DIRECTORY}/${name}`).length));

const owner = { generation: "next", identity: { text: "o".repeat(OWNER_MAX_BYTES - 100) } };

describe("a journal that is full", { timeout: 120_000 }, () => {
  it.each(hungry)("I168 I111 opens for the next owner, however large its name, and comes back: %s", async (_, step) => {
    const disk = new SimulatedDisk();
    const full = await openSimulated(disk);
    expect(await fill(full, step)).toBe("journal_full");
    const open = full.open().length;
    for (let takeover = 0; takeover < 3; takeover += 1) {
      const next = await openSimulated(disk, { owner: { ...owner, generation: `next-${takeover}` } });
      expect(next.open()).toHaveLength(open);
      expect(segmentBytes(disk)).toBeLessThanOrEqual(READER_SEGMENT_MAX_BYTES);
    }
    const last = await openSimulated(disk, { owner });
    for (const operation of last.open()) {
      const token = last.adopt(operation);
      expect(token && (await last.end(token, { text: "x".repeat(1000) }))).toBe("ended");
    }
    expect(last.open()).toEqual([]);
    // Not a segment for each end.
    expect(last.counters().compactions).toBeLessThan(20);
    await last.begin(prompt(0));
    await last.close();
    expect(segmentBytes(disk)).toBeLessThanOrEqual(CAPACITY_MAX_BYTES);
  });
});

describe("a journal whose own code or clock throws", () => {
  it("I70 is poisoned, and no record waits for ever", async () => {
    const disk = new SimulatedDisk();
    let salts = 0;
    const newSalt = (): string => {
      salts += 1;
      if (salts > 1) throw new RangeError("no salt");
      return "00000000";
    };
    const journal = await openSimulated(disk, { newSalt });
    const begins = Array.from({ length: 10 }, (_, index) =>
      journal.begin(prompt(index, { text: "x".repeat(4 * KIB) })),
    );
    const ended = await Promise.allSettled(begins);
    expect(ended.map(({ status }) => status)).toContain("rejected");
    expect(journal.state).toBe("poisoned");
    await journal.close();
  });
});

describe("a batch that a full disk cut off", () => {
  it("I141 is refused for good: no power cut brings a record of it back", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    disk.inject({ call: "write", errno: "ENOSPC", effect: "half" });
    const begins = Array.from({ length: 4 }, (_, index) => journal.begin(prompt(index)));
    const refused = expect.objectContaining({ reason: expect.objectContaining({ code: "disk_full" }) });
    expect(await Promise.allSettled(begins)).toEqual([refused, refused, refused, refused]);
    let states = 0;
    for (const crashed of disk.crashStates({ cuts: 8, samples: 8 })) {
      states += 1;
      expect((await openSimulated(crashed)).open()).toEqual([]);
    }
    expect(states).toBeGreaterThan(0);
    await journal.begin(prompt(0));
    const found = readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, disk);
    expect(found).toMatchObject({ kind: "ok", segment: 2, tornBytes: 0, open: [{ operationId: "op-0" }] });
  });

  it.each(["fdatasync", "write"] as const)(
    "I69 poisons where it cannot be taken back for certain: %s",
    async (call) => {
      const disk = new SimulatedDisk();
      const journal = await openSimulated(disk);
      disk.inject({ call: "write", errno: "ENOSPC", effect: "half" });
      disk.inject({ call, errno: "ENOSPC", lasting: true });
      await expect(journal.begin(prompt(0))).rejects.toMatchObject({ code: "journal_poisoned" });
    },
  );
});
