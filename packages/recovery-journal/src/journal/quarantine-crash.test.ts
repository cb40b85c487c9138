import { LF } from "../format/line.ts";
import { basename } from "node:path";
import { assert, describe, expect, it } from "vitest";
import { SIMULATED_DIRECTORY as DIRECTORY, type SimulatedDisk, simulatedOptions } from "../testing/index.ts";
import { watch } from "../proof/enumerate.ts";
import { openJournal } from "./open.ts";
import type { Damage } from "./quarantine.ts";
import { damageOf, diskWith, flip, quarantine, report, segmentPath, sha256 } from "./journal.testing.ts";

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

/** What is wrong with a disk on which a quarantine was begun: it is as before, or whole, and the bytes are there. */
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
  const all = segments.map((name) => [`${DIRECTORY}/${name}`, disk.contentOf(`${DIRECTORY}/${name}`)] as const);
  // A claim without a byte of its own is evidence of nothing.
  return new Map(all.filter(([, content]) => content.length === 0 || content.some((byte) => byte !== LF)));
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
    watch(disk, () => 0, { call: () => undefined, cut: look });
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
        const others: Promise<{ kind: string }>[] = [];
        disk.onCall = () => {
          count += 1;
          if (count !== index) return;
          disk.onCall = null;
          // Runs in this very turn: opening and putting aside never wait.
          const open = () => openJournal(simulatedOptions(disk, { expect: "existing" }));
          others.push(second === "quarantine" ? quarantine(disk, seen) : open());
        };
        const results = [await quarantine(disk, seen), ...(await Promise.all(others))];
        expect([index, problemOf(disk, seen, bytes)]).toEqual([index, null]);
        expect(report(disk)).toMatchObject({ kind: "ok", quarantines: [{ sha256: seen.sha256 }] });
        if (second === "open") continue;
        const kinds = new Set(results.map(({ kind }) => kind));
        expect([index, results.length, kinds]).toEqual([index, 2, new Set(["changed", "quarantined"])]);
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
  watch(disk, () => 0, { call: () => undefined, cut: look });
  const opened = await openJournal(simulatedOptions(disk, { expect: "existing" }));
  if (opened.kind === "refused") await quarantine(disk, seen);
  else assert(opened.kind === "opened" && opened.journal.quarantines().length === 1);
  look();
  disk.onCall = null;
  return [...problems];
}
