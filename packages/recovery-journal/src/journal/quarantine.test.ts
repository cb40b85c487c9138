import { createHash } from "node:crypto";
import { basename } from "node:path";
import { assert, describe, expect, it } from "vitest";
import { READER_SEGMENT_MAX_BYTES } from "../format.ts";
import {
  openSimulated,
  SIMULATED_DIRECTORY as DIRECTORY,
  SIMULATED_KINDS,
  type SimulatedKind,
  SimulatedDisk,
  simulatedOptions,
} from "../testing/index.ts";
import type { JournalReport } from "../types.ts";
import { openJournal } from "./open.ts";
import { type Damage, digestOf, quarantineJournal, type QuarantineOptions } from "./quarantine.ts";
import { readJournal } from "./read.ts";
import { removeJournal } from "./remove.ts";

const segmentPath = (segment: number): string => `${DIRECTORY}/e${String(segment).padStart(8, "0")}.jsonl`;
const prompt = (operationId: string, detail = {}) =>
  ({ operationId, generation: "g1", kind: "prompt", detail }) as const;
const report = (disk: SimulatedDisk): JournalReport => readJournal(DIRECTORY, SIMULATED_KINDS, disk);
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A disk on which all is durable, with whatever somebody has done to it. */
async function diskWith(harm: (disk: SimulatedDisk) => void | Promise<void>): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk();
  const journal = await openSimulated(disk);
  for (const id of ["a", "b", "c"]) await journal.begin(prompt(id));
  // The mark behind the last record is never synced.
  disk.plant(segmentPath(1), disk.contentOf(segmentPath(1)));
  await harm(disk);
  const fd = disk.open(DIRECTORY, 0);
  disk.fsync(fd);
  disk.close(fd);
  return disk;
}

function flip(disk: SimulatedDisk, path: string): void {
  const bytes = disk.contentOf(path);
  bytes[bytes.indexOf('"begin"') + 2] = 0;
  disk.plant(path, bytes);
}

const harms: Record<string, (disk: SimulatedDisk) => void> = {
  "a damaged record": (disk) => flip(disk, segmentPath(1)),
  "a damaged record, below an unfinished claim": (disk) => {
    flip(disk, segmentPath(1));
    disk.plant(segmentPath(2), Buffer.alloc(16_384, "\n"));
  },
  "a damaged record, above an older segment": (disk) => {
    const bytes = Buffer.from(disk.contentOf(segmentPath(1)));
    disk.plant(segmentPath(2), bytes);
  },
  "a segment without a head": (disk) => disk.plant(segmentPath(1), Buffer.alloc(600)),
  "an empty segment": (disk) => disk.plant(segmentPath(1), Buffer.alloc(0)),
  "a missing segment": (disk) => disk.unlink(segmentPath(1)),
};

function damageOf(disk: SimulatedDisk): Damage {
  const found = report(disk);
  if (found.kind === "fresh") return { why: "missing", path: DIRECTORY, sha256: null };
  assert(found.kind === "refused" && (found.why === "corrupt" || found.why === "oversize"));
  return { why: found.why, path: found.path, sha256: digestOf(found.path, disk) };
}

const optionsFor = (disk: SimulatedDisk, seen: Damage): QuarantineOptions<SimulatedKind> => ({
  ...simulatedOptions(disk),
  seen,
  reason: "the disk was replaced",
});
const quarantine = (disk: SimulatedDisk, seen: Damage = damageOf(disk)) => quarantineJournal(optionsFor(disk, seen));

/** What is wrong with a disk on which a quarantine was begun: it is as before, or whole, and the bytes are there in any case. */
function problemOf(disk: SimulatedDisk, seen: Damage, bytes: ReadonlyMap<string, Buffer>): string | null {
  const names = disk.exists(DIRECTORY) ? disk.readdir(DIRECTORY) : [];
  for (const [path, content] of bytes) {
    const kept = `quarantine-${basename(path).slice(1, 9)}-${sha256(content).slice(0, 8)}.jsonl`;
    const holders = names.filter((name) => name === basename(path) || name === kept);
    if (holders.length === 0) return `the bytes of ${path} are lost`;
    for (const name of holders) if (!disk.contentOf(`${DIRECTORY}/${name}`).equals(content)) return `${name} differs`;
  }
  const found = report(disk);
  if (found.kind === "fresh") return seen.why === "missing" ? null : "fresh";
  if (found.kind === "refused")
    return found.why === seen.why && found.path === seen.path ? null : JSON.stringify(found);
  if (found.quarantines.length !== 1) return "ok without its quarantine";
  const [record] = found.quarantines;
  if (record?.sha256 !== seen.sha256 || record.why !== seen.why) return `another quarantine: ${JSON.stringify(record)}`;
  return record.evidence === null || names.includes(record.evidence) ? null : "the evidence of the record is missing";
}

function bytesOn(disk: SimulatedDisk): Map<string, Buffer> {
  const segments = disk.readdir(DIRECTORY).filter((name) => name.startsWith("e"));
  return new Map(segments.map((name) => [`${DIRECTORY}/${name}`, disk.contentOf(`${DIRECTORY}/${name}`)]));
}

describe.each(Object.entries(harms))("the quarantine of %s", { timeout: 60_000 }, (_, harm) => {
  it("I71 leaves, after a power cut at any call and again in what follows, the refused journal or the quarantined one", async () => {
    const disk = await diskWith(harm);
    const [seen, bytes] = [damageOf(disk), bytesOn(disk)];
    const problems = new Set<string>();
    const later: SimulatedDisk[] = [];
    let states = 0;
    const look = (): void => {
      for (const state of disk.crashStates({ cuts: 2, samples: 1 })) {
        states += 1;
        const problem = problemOf(state, seen, bytes);
        if (problem !== null) problems.add(problem);
        if (states % 7 === 0) later.push(state);
      }
    };
    disk.onCall = look;
    expect(await quarantine(disk, seen)).toMatchObject({ kind: "quarantined", quarantine: { why: seen.why } });
    look();
    disk.onCall = null;
    expect([...problems]).toEqual([]);
    expect(states).toBeGreaterThan(25);
    expect(problemOf(disk, seen, bytes)).toBe(null);
    expect(report(disk)).toMatchObject({ kind: "ok", open: [], remembered: [] });
    // The writer that was there before.
    expect(disk.openDescriptors).toBe(1);
    for (const state of later) expect(await problemsOfAnotherTry(state, seen, bytes)).toEqual([]);
  });

  it("I71 leaves the one or the other when any one call fails, and can be done again", async () => {
    const calls: string[] = [];
    const first = await diskWith(harm);
    const known = damageOf(first);
    first.onCall = (call) => void calls.push(call);
    await quarantine(first, known);
    for (const index of calls.keys()) {
      for (const effect of ["none", "all"] as const) {
        const disk = await diskWith(harm);
        const [seen, bytes] = [damageOf(disk), bytesOn(disk)];
        let count = -1;
        disk.onCall = (call) => {
          count += 1;
          if (count === index) disk.inject({ call, errno: "EIO", effect });
        };
        const result = await quarantine(disk, seen).catch((error: unknown) => ({ kind: "failed", error }));
        disk.onCall = null;
        expect(["quarantined", "changed", "failed"]).toContain(result.kind);
        const states = [disk, ...disk.crashStates({ cuts: 1, samples: 1 })];
        const problems = states.map((state) => problemOf(state, seen, bytes)).filter((problem) => problem !== null);
        expect([index, calls[index], effect, problems]).toEqual([index, calls[index], effect, []]);
        await quarantine(disk, seen);
        expect(report(disk)).toMatchObject({ kind: "ok", quarantines: [{ sha256: seen.sha256 }] });
      }
    }
  });

  it("I144 lets one of two win, at whichever call the second comes", async () => {
    const calls: string[] = [];
    const first = await diskWith(harm);
    const known = damageOf(first);
    first.onCall = (call) => void calls.push(call);
    await quarantine(first, known);
    for (const index of calls.keys()) {
      for (const second of ["quarantine", "open"] as const) {
        const disk = await diskWith(harm);
        const [seen, bytes] = [damageOf(disk), bytesOn(disk)];
        let count = -1;
        let other: Promise<{ kind: string }> | null = null;
        disk.onCall = () => {
          count += 1;
          if (count !== index) return;
          disk.onCall = null;
          // Runs in this very turn: opening and putting aside never wait.
          other =
            second === "quarantine"
              ? quarantine(disk, seen)
              : openJournal(simulatedOptions(disk, { expect: "existing" }));
        };
        const results = [await quarantine(disk, seen), await other];
        expect([index, problemOf(disk, seen, bytes)]).toEqual([index, null]);
        expect(report(disk)).toMatchObject({ kind: "ok", quarantines: [{ sha256: seen.sha256 }] });
        if (second === "open") continue;
        expect([index, ...results.map((result) => result?.kind).toSorted()]).toEqual([index, "changed", "quarantined"]);
      }
    }
  });
});

/** A power cut in the next opening, or in the quarantine that is done again. */
async function problemsOfAnotherTry(
  disk: SimulatedDisk,
  seen: Damage,
  bytes: ReadonlyMap<string, Buffer>,
): Promise<readonly string[]> {
  const problems = new Set<string>();
  const look = (): void => {
    for (const state of disk.crashStates({ cuts: 1, samples: 1, names: 3 })) {
      const problem = problemOf(state, seen, bytes);
      if (problem !== null) problems.add(problem);
    }
  };
  disk.onCall = (call) => {
    if (call !== "exists" && call !== "lstat" && call !== "read") look();
  };
  const opened = await openJournal(simulatedOptions(disk, { expect: "existing" }));
  if (opened.kind === "refused") await quarantine(disk, seen);
  else assert(opened.kind === "opened" && opened.journal.quarantines().length === 1);
  look();
  disk.onCall = null;
  return [...problems];
}

describe("a quarantine", () => {
  const quarantined = async (): Promise<SimulatedDisk> => {
    const disk = await diskWith((damaged) => flip(damaged, segmentPath(1)));
    await quarantine(disk);
    return disk;
  };

  it("believes nothing of what it puts aside, and names it", async () => {
    const disk = await diskWith((damaged) => flip(damaged, segmentPath(1)));
    const digest = digestOf(segmentPath(1), disk);
    const evidence = `quarantine-00000001-${digest.slice(0, 8)}.jsonl`;
    const record = {
      id: "q00000002",
      evidence,
      sha256: digest,
      why: "corrupt",
      reason: "the disk was replaced",
      at: 1_000_000,
    };
    expect(await quarantine(disk)).toEqual({ kind: "quarantined", quarantine: record });
    expect(disk.readdir(DIRECTORY)).toEqual(["e00000002.jsonl", evidence]);
    expect(report(disk)).toMatchObject({ kind: "ok", segment: 2, open: [], remembered: [], quarantines: [record] });
  });

  it("keeps a file that is too large to be a segment", async () => {
    const bytes = Buffer.alloc(READER_SEGMENT_MAX_BYTES + 1, "x");
    const disk = await diskWith((damaged) => damaged.plant(segmentPath(1), bytes));
    expect(await quarantine(disk)).toMatchObject({ kind: "quarantined", quarantine: { why: "oversize" } });
    const [, evidence = ""] = disk.readdir(DIRECTORY);
    expect(disk.contentOf(`${DIRECTORY}/${evidence}`).equals(bytes)).toBe(true);
  });

  it("stays through compactions and takeovers until it is resolved, and its evidence stays after that", async () => {
    const disk = await quarantined();
    let journal = await openSimulated(disk);
    for (let round = 0; round < 40; round += 1) {
      await journal.end(await journal.begin(prompt("filler", { text: "x".repeat(2000) })), {});
    }
    expect(journal.counters().compactions).toBeGreaterThan(1);
    journal = await openSimulated(disk);
    expect(journal.quarantines()).toMatchObject([{ id: "q00000002" }]);
    const [first, second] = await Promise.allSettled([
      journal.resolveQuarantine("q00000002", { decision: "nothing was under way" }),
      journal.resolveQuarantine("q00000002", {}),
    ]);
    expect(first.status).toBe("fulfilled");
    expect(second).toMatchObject({ status: "rejected", reason: { code: "unknown_quarantine" } });
    await expect(journal.resolveQuarantine("q9", {})).rejects.toMatchObject({ code: "unknown_quarantine" });
    expect(journal.quarantines()).toEqual([]);
    expect(report(disk)).toMatchObject({ kind: "ok", quarantines: [] });
    const [last = ""] = disk.readdir(DIRECTORY);
    expect(disk.contentOf(`${DIRECTORY}/${last}`).toString()).toContain('"t":"resolve"');
    await openSimulated(disk);
    const [next = "", evidence] = disk.readdir(DIRECTORY);
    expect(disk.contentOf(`${DIRECTORY}/${next}`).toString()).not.toMatch(/"t":"(quarantine|resolve)"/);
    expect(evidence).toMatch(/^quarantine-00000001-/);
  });

  it("I70 a resolution that was acknowledged is there after any power cut", async () => {
    const disk = await quarantined();
    const journal = await openSimulated(disk);
    await journal.resolveQuarantine("q00000002", { decision: "done" });
    for (const state of disk.crashStates()) expect(report(state)).toMatchObject({ kind: "ok", quarantines: [] });
  });

  it("fences the writer whose segment it puts aside", async () => {
    const disk = new SimulatedDisk();
    const writer = await openSimulated(disk);
    await writer.begin(prompt("a"));
    flip(disk, segmentPath(1));
    await quarantine(disk);
    await expect(writer.begin(prompt("b"))).rejects.toMatchObject({ code: "journal_fenced" });
    expect(report(disk)).toMatchObject({ kind: "ok", open: [], quarantines: [{ why: "corrupt" }] });
  });

  it("I144 leaves the journal of an owner that is not proven gone", async () => {
    const disk = await diskWith((damaged) => flip(damaged, segmentPath(1)));
    const [seen, names] = [damageOf(disk), disk.readdir(DIRECTORY)];
    const options = optionsFor(disk, seen);
    for (const verdict of ["current", "unknown"] as const) {
      const other = { ...options, owner: { generation: "g2", identity: {} }, probeOwner: () => verdict };
      expect(await quarantineJournal(other)).toEqual({ kind: "owned", owner: { generation: "g1", identity: {} } });
    }
    expect(disk.readdir(DIRECTORY)).toEqual(names);
  });

  it("I93 is refused, with every byte in place, where it is not what was seen or is no damage", async () => {
    const disk = await diskWith((damaged) => flip(damaged, segmentPath(1)));
    const seen = damageOf(disk);
    const names = disk.readdir(DIRECTORY);
    const changed = async (other: Damage): Promise<void> => {
      expect(await quarantine(disk, other)).toMatchObject({ kind: "changed" });
      expect(disk.readdir(DIRECTORY)).toEqual(names);
    };
    await changed({ why: "missing", path: DIRECTORY, sha256: null });
    await changed({ why: "oversize", path: seen.path, sha256: seen.sha256 ?? "" });
    await changed({ why: "corrupt", path: segmentPath(2), sha256: seen.sha256 ?? "" });
    await changed({ why: "corrupt", path: seen.path, sha256: sha256(Buffer.from("others")) });
    disk.inject({ call: "read", errno: "EIO", lasting: true });
    await changed(seen);
    disk.heal();
    // Readable when judged, and not when its digest is taken.
    disk.inject({ call: "read", errno: "EIO", nth: 3 });
    expect(await quarantine(disk, seen)).toMatchObject({ kind: "changed", report: { why: "unreadable" } });
    disk.chmod(segmentPath(1), 0o640);
    await changed(seen);
    disk.chmod(segmentPath(1), 0o600);
    const whole = new SimulatedDisk();
    await openSimulated(whole);
    expect(await quarantine(whole, seen)).toMatchObject({ kind: "changed", report: { kind: "ok", quarantines: [] } });
  });

  it("keeps at most eight files of evidence, and overwrites none", async () => {
    const disk = await diskWith(() => undefined);
    for (let round = 1; round <= 8; round += 1) {
      flipHead(disk);
      expect(await quarantine(disk)).toMatchObject({ kind: "quarantined" });
    }
    flipHead(disk);
    const names = disk.readdir(DIRECTORY);
    await expect(quarantine(disk)).rejects.toMatchObject({ code: "quarantine_full" });
    expect(disk.readdir(DIRECTORY)).toEqual(names);
    const [segment = "", taken = ""] = names;
    const name = `quarantine-${segment.slice(1, 9)}-${digestOf(`${DIRECTORY}/${segment}`, disk).slice(0, 8)}.jsonl`;
    disk.unlink(`${DIRECTORY}/${taken}`);
    disk.plant(`${DIRECTORY}/${name}`, Buffer.from("somebody's"));
    await expect(quarantine(disk)).rejects.toMatchObject({ code: "evidence_exists" });
    expect(disk.contentOf(`${DIRECTORY}/${name}`).toString()).toBe("somebody's");
    disk.unlink(`${DIRECTORY}/${name}`);
    expect(await quarantine(disk)).toMatchObject({ kind: "quarantined" });
  });

  it("outlives the removal of its journal as evidence", async () => {
    const disk = await quarantined();
    const journal = await openSimulated(disk);
    await journal.resolveQuarantine("q00000002", {});
    await journal.close();
    removeJournal(DIRECTORY, disk);
    expect(disk.readdir(DIRECTORY)).toEqual([expect.stringMatching(/^quarantine-00000001-/)]);
    expect(report(disk)).toEqual({ kind: "fresh" });
  });

  it("I141 leaves the refused journal when the disk is full", async () => {
    const disk = await diskWith((damaged) => flip(damaged, segmentPath(1)));
    disk.capacityBytes = disk.usedBytes;
    await expect(quarantine(disk)).rejects.toMatchObject({ code: "disk_full" });
    expect(report(disk)).toMatchObject({ kind: "refused", why: "corrupt" });
    disk.heal();
    expect(await quarantine(disk)).toMatchObject({ kind: "quarantined" });
  });
});

/** Damages whichever segment there is. */
function flipHead(disk: SimulatedDisk): void {
  const name = disk.readdir(DIRECTORY).find((candidate) => candidate.startsWith("e"));
  const bytes = disk.contentOf(`${DIRECTORY}/${name}`);
  bytes[3] = 0;
  disk.plant(`${DIRECTORY}/${name}`, bytes);
}
