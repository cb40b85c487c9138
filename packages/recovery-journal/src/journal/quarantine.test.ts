import { describe, expect, it } from "vitest";
import { READER_SEGMENT_MAX_BYTES } from "../format.ts";
import { encodeLine, HEAD_SEED } from "../format/line.ts";
import { openSimulated, SIMULATED_DIRECTORY as DIRECTORY, SimulatedDisk } from "../testing/index.ts";
import { digestOf } from "./evidence.ts";
import { type Damage, quarantineJournal } from "./quarantine.ts";
import {
  damageOf,
  diskWith,
  flip,
  optionsFor,
  prompt,
  quarantine,
  report,
  segmentPath,
  sha256,
} from "./journal.testing.ts";
import { removeJournal } from "./remove.ts";

const quarantined = async (): Promise<SimulatedDisk> => {
  const disk = await diskWith((damaged) => flip(damaged, segmentPath(1)));
  await quarantine(disk);
  return disk;
};

describe("a quarantine", () => {
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

  it("I71 is not kept from a journal by claims that nobody finished, however many", async () => {
    const disk = await diskWith((damaged) => {
      flip(damaged, segmentPath(1));
      for (let segment = 2; segment < 20; segment += 1) damaged.plant(segmentPath(segment), Buffer.alloc(512, 0x0a));
    });
    const { kind } = await quarantine(disk);
    expect([kind, disk.readdir(DIRECTORY)]).toEqual([
      "quarantined",
      ["e00000020.jsonl", expect.stringMatching(/^quarantine-00000001-/)],
    ]);
  });

  it("I71 keeps its journal from being removed, also where that cannot be read", async () => {
    const disk = await quarantined();
    const names = disk.readdir(DIRECTORY);
    expect(() => removeJournal(DIRECTORY, disk)).toThrow("is not resolved");
    disk.inject({ call: "open", errno: "EMFILE", pathEnds: "e00000002.jsonl" });
    expect(() => removeJournal(DIRECTORY, disk)).toThrow("EMFILE");
    expect(disk.readdir(DIRECTORY)).toEqual(names);
  });

  it("is resolved by the second of two at once where the first cannot be written", async () => {
    const disk = await quarantined();
    const journal = await openSimulated(disk);
    disk.inject({ call: "write", errno: "ENOSPC" });
    const both = ["a", "b"].map((decision) => journal.resolveQuarantine("q00000002", { decision }));
    expect(await Promise.allSettled(both)).toMatchObject([
      { status: "rejected", reason: { code: "disk_full" } },
      { status: "fulfilled" },
    ]);
    expect(report(disk)).toMatchObject({ kind: "ok", quarantines: [] });
  });

  it("I71 is not written where its record could not be read back", async () => {
    const disk = await diskWith((damaged) => flip(damaged, segmentPath(1)));
    const names = disk.readdir(DIRECTORY);
    const asked = { ...optionsFor(disk, damageOf(disk)), now: () => Number.NaN };
    await expect(quarantineJournal(asked)).rejects.toThrow("can be read back");
    expect(disk.readdir(DIRECTORY)).toEqual(names);
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

  it("I81 is refused where a lower segment is of a later version", async () => {
    const disk = await diskWith((damaged) => {
      damaged.plant(segmentPath(2), damaged.contentOf(segmentPath(1)));
      damaged.plant(segmentPath(1), encodeLine('{"t":"head","v":3}', HEAD_SEED));
    });
    const [seen, names] = [damageOf(disk), disk.readdir(DIRECTORY)];
    expect(seen.path).toBe(segmentPath(2));
    expect(await quarantine(disk, seen)).toMatchObject({ kind: "changed", report: { why: "unsupported-version" } });
    expect(disk.readdir(DIRECTORY)).toEqual(names);
  });

  it("I71 makes the bytes that it names durable, also where the damage was not", async () => {
    const disk = await diskWith(() => undefined);
    const fd = disk.open(segmentPath(1), 0);
    disk.write(fd, Buffer.from("#"), 0, 1, 3);
    const bytes = disk.contentOf(segmentPath(1));
    const { kind } = await quarantine(disk);
    expect(kind).toBe("quarantined");
    const [, evidence = ""] = disk.readdir(DIRECTORY);
    const states = [...disk.crashStates()].map((state) => state.contentOf(`${DIRECTORY}/${evidence}`));
    expect(states.filter((content) => !content.equals(bytes))).toEqual([]);
    expect(states.length).toBeGreaterThan(0);
  });

  it.each(["is not there", "is there and was never synced"])("is durable where the directory %s", async (how) => {
    const disk = new SimulatedDisk();
    if (how !== "is not there") disk.mkdir(DIRECTORY, 0o700);
    expect(await quarantine(disk)).toMatchObject({ kind: "quarantined", quarantine: { id: "q00000001" } });
    const states = [...disk.crashStates()].map((state) => report(state));
    expect(states).toEqual(states.map(() => expect.objectContaining({ kind: "ok", quarantines: [expect.anything()] })));
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

  it("I71 keeps its journal from being removed until it is resolved, and outlives the removal as evidence", async () => {
    const disk = await quarantined();
    const names = disk.readdir(DIRECTORY);
    expect(() => removeJournal(DIRECTORY, disk)).toThrow(expect.objectContaining({ code: "quarantine_unresolved" }));
    expect(disk.readdir(DIRECTORY)).toEqual(names);
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

type Overwritten = { readonly kind: string; readonly problems: readonly string[] } | null;

/** A segment without a head is put aside, and whoever has it open writes to it before one call of that. `null`: there is no such call. */
async function overwriteAt(place: number): Promise<Overwritten> {
  const disk = await diskWith((damaged) => damaged.plant(segmentPath(1), Buffer.alloc(600, "x")));
  const seen = damageOf(disk);
  const later = Buffer.alloc(600, "x").fill("y", 300, 310);
  const fd = disk.open(segmentPath(1), 0);
  let calls = 0;
  let isFenced: boolean | null = null;
  disk.onCall = () => {
    calls += 1;
    if (calls !== place) return;
    disk.onCall = null;
    isFenced = disk.exists(segmentPath(2));
    disk.write(fd, later, 300, 10, 300);
  };
  const result = await quarantine(disk, seen);
  disk.onCall = null;
  if (isFenced === null) return null;
  const problems: string[] = [];
  const contents = (): Map<string, Buffer> =>
    new Map(disk.readdir(DIRECTORY).map((name) => [name, disk.contentOf(`${DIRECTORY}/${name}`)]));
  // What it wrote before it could find itself fenced may be acknowledged.
  if (!isFenced && ![...contents().values()].some((bytes) => bytes.equals(later))) problems.push(`${place}: lost`);
  disk.write(fd, Buffer.from("z"), 0, 1, 400);
  const evidence = result.kind === "quarantined" ? contents().get(result.quarantine.evidence ?? "") : undefined;
  if (evidence !== undefined && sha256(evidence) !== seen.sha256) problems.push(`${place}: other evidence`);
  if (result.kind === "quarantined" && evidence === undefined) problems.push(`${place}: no evidence`);
  return { kind: result.kind, problems };
}

describe("a quarantine beside a writer that lives", { timeout: 60_000 }, () => {
  it("I144 takes the very next number, and removes the oldest segment first", async () => {
    const disk = await diskWith((damaged) => {
      flip(damaged, segmentPath(1));
      // Of an earlier life of the journal, in which it got further.
      damaged.plant(`${DIRECTORY}/quarantine-00000007-0123abcd.jsonl`, Buffer.from("x"));
      damaged.plant(segmentPath(2), damaged.contentOf(segmentPath(1)).subarray(0, 100));
    });
    const removed: string[] = [];
    disk.onCall = (call, path) => void (call === "unlink" && path.endsWith(".jsonl") && removed.push(path));
    expect(await quarantine(disk)).toMatchObject({ kind: "quarantined", quarantine: { id: "q00000003" } });
    expect(removed).toEqual([segmentPath(1), segmentPath(2)]);
  });

  it("I71 I144 keeps the evidence that it records as it was, and all that was acknowledged, at whatever call that one writes", async () => {
    const runs: Overwritten[] = [];
    for (let place = 1; runs.at(-1) !== null; place += 1) runs.push(await overwriteAt(place));
    expect(runs.flatMap((run) => run?.problems ?? [])).toEqual([]);
    expect(new Set(runs.map((run) => run?.kind))).toEqual(new Set(["changed", "quarantined", undefined]));
  });

  it("I93 I144 is refused where no head names its owner and it is not proven that nobody writes", async () => {
    const headless = Buffer.alloc(600);
    for (const content of [headless, null]) {
      const harm = (damaged: SimulatedDisk): void =>
        content === null ? damaged.unlink(segmentPath(1)) : damaged.plant(segmentPath(1), content);
      const disk = await diskWith(harm);
      const names = disk.readdir(DIRECTORY);
      const options = optionsFor(disk, damageOf(disk));
      for (const verdict of ["current", "unknown"] as const) {
        const asked: unknown[] = [];
        const probeOwner = (owner: unknown) => {
          asked.push(owner);
          return verdict;
        };
        expect(await quarantineJournal({ ...options, probeOwner })).toEqual({ kind: "owned", owner: null });
        expect([asked, disk.readdir(DIRECTORY)]).toEqual([[null], names]);
      }
      expect(await quarantineJournal(options)).toMatchObject({ kind: "quarantined" });
    }
  });

  it("I71 is not led astray by a name that only looks like evidence", async () => {
    const disk = await diskWith((damaged) => {
      damaged.unlink(segmentPath(1));
      damaged.plant(`${DIRECTORY}/quarantine-9999999999999999999999-0123abcd.jsonl`, Buffer.from("x"));
      damaged.plant(`${DIRECTORY}/quarantine-9007199254740991-0123abcd.jsonl`, Buffer.from("x"));
    });
    expect(await quarantine(disk)).toMatchObject({ kind: "quarantined", quarantine: { id: "q00000001" } });
    expect(report(disk)).toMatchObject({ kind: "ok", segment: 1, quarantines: [{ id: "q00000001" }] });
  });

  it("I71 refuses a resolution that no reader would take, before it is written", async () => {
    const disk = await quarantined();
    const journal = await openSimulated(disk);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as from a program without types
    const text = { toJSON: () => "text" } as never;
    await expect(journal.resolveQuarantine("q00000002", text)).rejects.toMatchObject({ code: "invariant_broken" });
    expect(report(disk)).toMatchObject({ kind: "ok", quarantines: [{ id: "q00000002" }] });
  });
});
