import { FakeClock } from "@holdfast/shared-process/testing";
import { describe, expect, it } from "vitest";
import { CAPACITY_BUSY_MAX_BYTES, CAPACITY_MIN_BYTES } from "../format.ts";
import { Ledger } from "../proof/ledger.ts";
import {
  openSimulated,
  SIMULATED_DIRECTORY,
  SIMULATED_KINDS,
  type SimulatedKind,
  SimulatedDisk,
} from "../testing/index.ts";
import type { Journal } from "../types.ts";
import { readJournal } from "./read.ts";
import { MARK_DELAY_MS, SHRINK_DELAY_MS } from "./rest-timer.ts";

const prompt = (operationId: string, detail = {}) =>
  ({ operationId, generation: "g1", kind: "prompt", detail }) as const;

/** Begins and ends one operation whose detail has so many bytes. */
async function work(journal: Journal<SimulatedKind>, bytes: number): Promise<void> {
  await journal.end(await journal.begin(prompt("work", { text: "x".repeat(bytes) })), {});
}

async function fill(journal: Journal<SimulatedKind>): Promise<void> {
  const { compactions } = journal.counters();
  while (journal.counters().compactions === compactions) await work(journal, 1000);
}

function marks(disk: SimulatedDisk): number {
  return disk.contentOf(`${SIMULATED_DIRECTORY}/e00000001.jsonl`).toString().split('"t":"mark"').length - 1;
}

async function opened() {
  const [disk, clock] = [new SimulatedDisk(), new FakeClock()];
  return { disk, clock, journal: await openSimulated(disk, { clock }) };
}

describe("the capacity", () => {
  it("I111 doubles while segments fill up within a second, to a bound, and halves when they take longer", async () => {
    const { disk, clock, journal } = await opened();
    const sizes: number[] = [];
    for (let segment = 0; segment < 7; segment += 1) {
      await fill(journal);
      sizes.push(disk.usedBytes / 1024);
    }
    for (let segment = 0; segment < 6; segment += 1) {
      clock.advance(1000);
      await fill(journal);
      sizes.push(disk.usedBytes / 1024);
    }
    expect(sizes).toEqual([32, 64, 128, 256, 512, 512, 512, 256, 128, 64, 32, 16, 16]);
    expect(CAPACITY_BUSY_MAX_BYTES).toBe(512 * 1024);
  });

  it("I110 is what is needed again after a rest, by a timer that a journal at rest does not have", async () => {
    const { disk, clock, journal } = await opened();
    for (let segment = 0; segment < 3; segment += 1) await fill(journal);
    expect(disk.usedBytes).toBe(8 * CAPACITY_MIN_BYTES);
    await journal.begin(prompt("stays"));
    clock.advance(SHRINK_DELAY_MS);
    await work(journal, 10);
    clock.advance(SHRINK_DELAY_MS - MARK_DELAY_MS);
    expect(disk.usedBytes).toBe(8 * CAPACITY_MIN_BYTES);
    clock.advance(2 * MARK_DELAY_MS);
    expect([disk.usedBytes, clock.pendingTimers]).toEqual([CAPACITY_MIN_BYTES, 0]);
    expect(readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, disk)).toMatchObject({ open: [{ operationId: "stays" }] });
    await work(journal, 10);
    clock.advance(MARK_DELAY_MS);
    expect([disk.usedBytes, clock.pendingTimers]).toEqual([CAPACITY_MIN_BYTES, 0]);
  });

  it("stays where the state needs it, and where the disk is too full for another segment", async () => {
    const { disk, clock, journal } = await opened();
    const large = await journal.begin(prompt("large", { text: "x".repeat(20_000) }));
    const size = disk.usedBytes;
    clock.advance(MARK_DELAY_MS + SHRINK_DELAY_MS);
    expect([disk.usedBytes, clock.pendingTimers]).toEqual([size, 0]);
    await journal.end(large, {});
    disk.capacityBytes = size;
    clock.advance(MARK_DELAY_MS + SHRINK_DELAY_MS);
    expect([disk.usedBytes, clock.pendingTimers, journal.state]).toEqual([size, 0, "live"]);
    disk.heal();
    await work(journal, 10);
    clock.advance(MARK_DELAY_MS + SHRINK_DELAY_MS);
    expect(disk.usedBytes).toBe(CAPACITY_MIN_BYTES);
  });

  it("leaves a journal alone that was closed, fenced or poisoned meanwhile", async () => {
    for (const how of ["closed", "fenced", "poisoned"] as const) {
      const { disk, clock, journal } = await opened();
      await fill(journal);
      clock.advance(MARK_DELAY_MS);
      if (how === "closed") await journal.close();
      if (how === "fenced") await openSimulated(disk, { owner: { generation: "g2", identity: {} }, clock });
      if (how === "poisoned") disk.inject({ call: "fdatasync", errno: "EIO" });
      await expect(work(journal, 10)).rejects.toMatchObject({ code: `journal_${how}` });
      expect([how, clock.pendingTimers]).toEqual([how, 0]);
    }
  });
});

describe("the mark", () => {
  it("comes when nothing follows, once, and not between the flush and the acknowledgement", async () => {
    const { disk, clock, journal } = await opened();
    const calls: string[] = [];
    disk.onCall = (call) => calls.push(call);
    await work(journal, 10);
    await work(journal, 10);
    const batch = ["write", "fdatasync", "exists", "hasName"];
    expect(calls.splice(0)).toEqual([...batch, ...batch, ...batch, ...batch]);
    expect(marks(disk)).toBe(0);
    clock.advance(MARK_DELAY_MS);
    expect(calls).toEqual(["write"]);
    expect([marks(disk), clock.pendingTimers]).toEqual([1, 0]);
  });

  it("is in a segment that is closed, and not written twice", async () => {
    const { disk, clock, journal } = await opened();
    await work(journal, 10);
    await journal.close();
    expect([marks(disk), clock.pendingTimers]).toEqual([1, 0]);
    expect(readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, disk)).toMatchObject({ released: true, tornBytes: 0 });
  });

  it("waits for a flush that is under way", async () => {
    const { disk, clock, journal } = await opened();
    await work(journal, 10);
    disk.onCall = (call) => {
      if (call === "fdatasync") clock.advance(MARK_DELAY_MS);
    };
    await work(journal, 10);
    disk.onCall = null;
    expect(marks(disk)).toBe(0);
    clock.advance(MARK_DELAY_MS);
    expect(marks(disk)).toBe(1);
  });

  it("is not put on a segment whose last write a full disk cut off", async () => {
    const { disk, clock, journal } = await opened();
    await journal.begin(prompt("kept"));
    disk.inject({ call: "write", errno: "ENOSPC", effect: "half" });
    await expect(journal.begin(prompt("lost"))).rejects.toMatchObject({ code: "disk_full" });
    clock.advance(MARK_DELAY_MS);
    expect(marks(disk)).toBe(0);
    expect(readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, disk)).toMatchObject({ open: [{ operationId: "kept" }] });
  });
});

it(
  "I70 I93 a power cut loses nothing while segments grow, rest and shrink, with late marks",
  { timeout: 60_000 },
  async () => {
    const { disk, clock, journal } = await opened();
    const ledger = Ledger.of(readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, disk));
    const problems = new Set<string>();
    let states = 0;
    let checked = -1;
    disk.onCall = (call, path) => {
      if ((call === "exists" || call === "hasName") && checked === ledger.version) return;
      checked = ledger.version;
      for (const state of disk.crashStates({ cuts: 2, samples: 2, seed: states })) {
        states += 1;
        for (const problem of ledger.judgeDisk(state)) problems.add(`before ${call} ${path}: ${problem}`);
      }
    };
    const detail = { text: "x".repeat(3000) };
    for (let index = 0; index < 24; index += 1) {
      const id = `p${index}`;
      const requestId = `q-${id}`;
      ledger.take({ ask: `begin ${id}`, call: { type: "admit", ids: [id], requestId } });
      const token = await journal.admit(prompt(id, detail), { requestId, hash: "h" });
      ledger.take({ ack: `begin ${id}` });
      if (index % 5 === 0) clock.advance(MARK_DELAY_MS);
      if (index % 8 === 7) clock.advance(SHRINK_DELAY_MS + MARK_DELAY_MS);
      if (index % 4 === 3) continue;
      ledger.take({ ask: `end ${id}`, call: { type: "end", ids: [id], outcome: {} } });
      await journal.end(token, {});
      ledger.take({ ack: `end ${id}` });
    }
    await journal.close();
    disk.onCall = null;
    expect([...problems]).toEqual([]);
    expect(journal.counters().compactions).toBeGreaterThan(3);
    expect(states).toBeGreaterThan(1000);
  },
);
