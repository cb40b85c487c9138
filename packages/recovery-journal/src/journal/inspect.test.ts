import { describe, expect, it } from "vitest";
import { PassThrough } from "../proof/pass-through.ts";
import {
  openSimulated,
  SIMULATED_DIRECTORY as DIRECTORY,
  SIMULATED_KINDS,
  SimulatedDisk,
  simulatedOptions,
} from "../testing/index.ts";
import type { JournalReport } from "../types.ts";
import { viewJournal } from "../view/view-journal.ts";
import { inspectJournal } from "./inspect.ts";
import { openJournal } from "./open.ts";
import { flip, prompt, segmentPath } from "./journal.testing.ts";
import { readJournal } from "./read.ts";

/** Reads in small pieces, as a read of a large file is no one step. */
class SmallReads extends PassThrough {
  override read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number {
    return this.inner.read(fd, buffer, offset, Math.min(length, 512), position);
  }
}

/** Lists names while they change: one that is made meanwhile is missed, one that is removed meanwhile too. */
class SlowList extends PassThrough {
  #change: (() => void) | null;

  constructor(disk: SimulatedDisk, change: () => void) {
    super(disk);
    this.#change = change;
  }

  override readdir(path: string): string[] {
    const before = this.inner.readdir(path);
    this.#change?.();
    this.#change = null;
    const after = this.inner.readdir(path);
    return before.filter((name) => after.includes(name));
  }
}

const FILL = Buffer.alloc(16_384, "\n");
const reportOn = (fs: PassThrough): JournalReport => readJournal(DIRECTORY, SIMULATED_KINDS, fs);

/** What the segment holds after each of several batches that are each larger than a piece. */
async function batches(): Promise<{ disk: SimulatedDisk; contents: readonly Buffer[] }> {
  const disk = new SimulatedDisk();
  const journal = await openSimulated(disk);
  const contents = [disk.contentOf(segmentPath(1))];
  for (const id of ["a", "b", "c"]) {
    await journal.begin(prompt(id, { text: "x".repeat(700) }));
    contents.push(disk.contentOf(segmentPath(1)));
  }
  return { disk, contents };
}

/** The content of a whole segment with this number. */
async function wholeSegment(segment: number): Promise<Buffer> {
  const disk = new SimulatedDisk();
  for (let count = 1; count <= segment; count += 1) await openSimulated(disk);
  return disk.contentOf(segmentPath(segment));
}

describe("a look at a journal that is being written", () => {
  it("I71 finds no damage and no tear in batches that come between two pieces of a read", async () => {
    const { disk, contents } = await batches();
    let looks = 0;
    for (const [first, start] of contents.entries()) {
      for (const end of contents.slice(first + 1)) {
        for (let piece = 1; piece <= 8; piece += 1) {
          for (const look of [() => reportOn(new SmallReads(disk)), () => viewed(disk)]) {
            disk.plant(segmentPath(1), start);
            let reads = 0;
            disk.onCall = (call) => {
              if (call === "read") reads += 1;
              if (call === "read" && reads === piece) disk.plant(segmentPath(1), end);
            };
            expect([first, piece, look()]).toMatchObject([first, piece, { kind: "ok", tornBytes: 0 }]);
            looks += 1;
          }
        }
      }
    }
    expect(looks).toBe(96);
  });

  it("I71 finds no journal missing and none damaged while names change under the list", async () => {
    const [first, third] = await Promise.all([wholeSegment(1), wholeSegment(3)]);
    for (const abandoned of [false, true]) {
      const disk = new SimulatedDisk();
      disk.mkdir(DIRECTORY, 0o700);
      disk.plant(segmentPath(1), first);
      if (abandoned) disk.plant(segmentPath(2), FILL);
      const fs = new SlowList(disk, () => {
        disk.plant(segmentPath(3), third);
        disk.unlink(segmentPath(1));
      });
      expect(reportOn(fs)).toMatchObject({ kind: "ok", segment: 3 });
    }
  });

  it("I144 takes a claim that another opener's came above for lost, whatever is left below", async () => {
    const [first, fourth] = await Promise.all([wholeSegment(1), wholeSegment(4)]);
    const disk = new SimulatedDisk();
    disk.mkdir(DIRECTORY, 0o700);
    disk.plant(segmentPath(1), first);
    // Of an opener that ended in the middle.
    disk.plant(segmentPath(2), FILL);
    let lists = 0;
    disk.onCall = (call) => {
      if (call !== "readdir" || !disk.exists(segmentPath(3))) return;
      lists += 1;
      if (lists !== 1) return;
      // The third opener has taken over and is removing what is below, the oldest first.
      disk.plant(segmentPath(4), fourth);
      disk.unlink(segmentPath(1));
    };
    const opened = await openJournal(simulatedOptions(disk));
    expect(opened).toMatchObject({ kind: "opened", report: { segment: 4 } });
    expect(disk.readdir(DIRECTORY)).toEqual(["e00000005.jsonl"]);
  });

  it("I71 refuses damage that stays, and says of what never comes to rest that it cannot be read", async () => {
    const { disk } = await batches();
    flip(disk, segmentPath(1));
    const calls: string[] = [];
    disk.onCall = (call) => void calls.push(call);
    expect(inspectJournal(disk, { directory: DIRECTORY, kinds: "any" })).toMatchObject({ why: "corrupt" });
    const reading = new Set(["lstat", "readdir", "open", "fstat", "read", "close"]);
    expect(calls.filter((call) => !reading.has(call))).toEqual([]);
    const damaged = disk.contentOf(segmentPath(1));
    let flips = 0;
    disk.onCall = (call) => {
      if (call !== "open") return;
      flips += 1;
      damaged[100] = flips;
      disk.plant(segmentPath(1), damaged);
    };
    expect(reportOn(new PassThrough(disk))).toMatchObject({ kind: "refused", why: "unreadable" });
    expect(viewed(disk)).toMatchObject({ kind: "refused", why: "unreadable" });
    expect(flips).toBe(32);
  });
});

function viewed(disk: SimulatedDisk): unknown {
  const view = viewJournal(segmentPath(1), new SmallReads(disk));
  return view.kind === "missing" ? null : view.report;
}
