import { readFileSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { SimulatedDisk } from "@holdfast/recovery-journal/testing";
import type { CallName } from "@holdfast/recovery-journal/testing";
import { sessionDirectory, sessionRecordPath } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { describe, expect, it } from "vitest";
import { Catalog } from "../catalog.ts";
import { readAllSessions } from "../session-record-file.ts";
import { sessionRecordOf } from "../session-record.testing.ts";
import { readIndex, readSummaries } from "./read-index.ts";
import { indexPath } from "../home.ts";
import { HEAD_LINE, decodeRow, encodeRow, summaryOf } from "./row.ts";

const idOf = (at: number): string => `01a2aaaa-0000-7000-8000-${String(at).padStart(12, "0")}`;
const [first, second, third] = [idOf(1), idOf(2), idOf(3)];
const wanting = (wanted: SessionRecord["wanted"]) => (record: SessionRecord) => ({ ...record, wanted });
const INDEX = indexPath("");

function emptyHome(disk = new SimulatedDisk()): SimulatedDisk {
  disk.mkdir("/sessions", 0o700);
  disk.fsync(disk.open("/", 0));
  return disk;
}

async function create(catalog: Catalog, disk: SimulatedDisk, record: SessionRecord): Promise<void> {
  disk.mkdir(sessionDirectory("", record.sessionId), 0o700);
  disk.fsync(disk.open("/sessions", 0));
  await catalog.create(record);
}

const creating = (requestId: string) => ({ creatingRequest: { requestId, hash: `${requestId}-hash` } });

/** One stopped, one archived, one that is to run. */
async function homeOfThree(): Promise<SimulatedDisk> {
  const disk = emptyHome();
  const catalog = new Catalog("", disk);
  await create(catalog, disk, sessionRecordOf(first, { wanted: "stopped", name: "one", ...creating("r1") }));
  await create(catalog, disk, sessionRecordOf(second, { wanted: "archived", ...creating("r2") }));
  await create(catalog, disk, sessionRecordOf(third, { wanted: "running", parentId: first, ...creating("r3") }));
  return disk;
}

/** What the records alone say. */
function truth(disk: SimulatedDisk): object {
  const reads = readAllSessions(disk, "");
  return {
    known: reads.flatMap((read) => (read.kind === "record" ? [summaryOf(read.record)] : [])),
    damaged: reads.flatMap((read) => (read.kind === "unreadable" ? [[read.sessionId, read.reason]] : [])),
  };
}

const told = (catalog: Catalog): object => ({
  known: [...catalog.all()].map(summaryOf),
  damaged: [...catalog.quarantined],
});

function toldOffline(disk: SimulatedDisk): object {
  const reads = readSummaries(disk, "");
  return {
    known: reads.flatMap((read) => (read.kind === "record" ? [summaryOf(read.record)] : [])),
    damaged: reads.flatMap((read) => (read.kind === "unreadable" ? [[read.sessionId, read.reason]] : [])),
  };
}

/** Records whose file is opened by a start. */
function openedBy(disk: SimulatedDisk, work: () => void): string[] {
  const opened: string[] = [];
  disk.onCall = (call, path) => {
    if (call === "open" && path.endsWith("/session.json")) opened.push(path);
  };
  work();
  disk.onCall = null;
  return opened;
}

/** A kernel that gives a new file the number of the last one that went, within one tick of its clock. */
class BluntDisk extends SimulatedDisk {
  override lstat(path: string): BigIntStats {
    return { ...super.lstat(path), ino: 7n, ctimeNs: 0n };
  }
}

describe("the index of sessions", () => {
  it("I140 tells each of 63 replacements from the record of its line where inode, time and text are as long as before", async () => {
    const disk = emptyHome(new BluntDisk());
    const catalog = new Catalog("", disk);
    await create(catalog, disk, sessionRecordOf(first, { wanted: "stopped", name: "n00" }));
    const index = disk.contentOf(INDEX);
    for (let at = 1; at < 64; at += 1) {
      await catalog.update(first, (record) => ({ ...record, name: `n${String(at).padStart(2, "0")}` }));
      // A power cut takes the lines of all that came since.
      disk.plant(INDEX, index);
      expect(toldOffline(disk)).toEqual(truth(disk));
    }
    expect(told(new Catalog("", disk))).toEqual(truth(disk));
  });

  it("I142 a repair sees what became of a record at rest since it was read", async () => {
    const disk = await homeOfThree();
    const catalog = new Catalog("", disk);
    expect(catalog.get(first)?.name).toBe("one");
    disk.plant(sessionRecordPath("", first), Buffer.from("{"));
    expect([first, second, third].map((id) => catalog.isUnreadable(id))).toEqual([true, false, false]);
    expect([...catalog.quarantined.keys()]).toEqual([first]);
    catalog.forgetUnreadable(first);
    expect([...catalog.quarantined.keys()]).toEqual([]);
  });

  it("I142 a record at rest counts as it is on disk, whatever was read or written of it before", async () => {
    const disk = await homeOfThree();
    const catalog = new Catalog("", disk);
    await catalog.update(third, wanting("stopped"));
    catalog.letGo(third);
    expect(catalog.get(third)?.name).toBeNull();
    const put = sessionRecordOf(third, { wanted: "stopped", name: "put_back", ...creating("r3") });
    disk.plant(sessionRecordPath("", third), Buffer.from(JSON.stringify(put)));
    await catalog.update(third, wanting("archived"));
    expect(truth(disk)).toMatchObject({ known: [{}, {}, { name: "put_back", wanted: "archived" }] });
    disk.plant(sessionRecordPath("", third), Buffer.from("{"));
    await expect(catalog.update(third, wanting("stopped"))).rejects.toMatchObject({ code: "session_quarantined" });
    expect([disk.contentOf(sessionRecordPath("", third)).toString(), catalog.get(third)]).toEqual(["{", undefined]);
    expect([...catalog.quarantined.keys()]).toEqual([third]);
  });

  it("I142 a row that was written without a look at its record fits nothing, also where there is nothing to look at", async () => {
    const disk = await homeOfThree();
    const catalog = new Catalog("", disk);
    disk.inject({ call: "lstat", errno: "EIO", pathEnds: "session.json" });
    await catalog.update(first, wanting("archived"));
    expect(readIndex(disk, "").rows.get(first)?.record).toBe("");
    disk.mkdir(`${sessionDirectory("", first)}/journal`, 0o700);
    disk.unlink(sessionRecordPath("", first));
    expect(toldOffline(disk)).toMatchObject({ damaged: [[first, "session.json is missing"]] });
    expect(toldOffline(disk)).toEqual(truth(disk));
  });

  it("saves a start the records of sessions at rest, and a list without a daemon all of them", async () => {
    const disk = await homeOfThree();
    expect(openedBy(disk, () => new Catalog("", disk))).toEqual([sessionRecordPath("", third)]);
    expect(openedBy(disk, () => readSummaries(disk, ""))).toEqual([]);
    expect(toldOffline(disk)).toEqual(truth(disk));
  });

  it("I143 knows the requests of sessions whose records were not read", async () => {
    const disk = await homeOfThree();
    const stamp = { requestId: "stop", hash: "h" };
    await new Catalog("", disk).update(first, (record) => ({ ...record, recentRequests: [stamp] }));
    const catalog = new Catalog("", disk);
    const opened = openedBy(disk, () => {
      expect(catalog.createdBy("r1")).toMatchObject({ sessionId: first, creatingRequest: { hash: "r1-hash" } });
      expect([...catalog.all()].map(({ recentRequests }) => recentRequests)).toEqual([[stamp], undefined, undefined]);
    });
    expect(opened).toEqual([]);
  });

  it("I140 is worth as much as its lines before any damage: truncated, overwritten, empty or another file's", async () => {
    const disk = await homeOfThree();
    const whole = disk.contentOf(INDEX);
    const damaged: Uint8Array[] = [Buffer.from("{}\n"), Buffer.from(`${HEAD_LINE}\n{}\n`), Buffer.alloc(600)];
    const lastLine = whole.lastIndexOf("\n", -2);
    for (let length = lastLine; length <= whole.length; length += 1) damaged.push(whole.subarray(0, length));
    for (let length = 0; length <= whole.length; length += 101) {
      damaged.push(whole.subarray(0, length));
      damaged.push(Buffer.concat([whole.subarray(0, length), Buffer.alloc(8)]));
      damaged.push(Buffer.concat([whole.subarray(0, length), Buffer.from("\n"), whole.subarray(length)]));
    }
    for (const bytes of damaged) {
      disk.plant(INDEX, bytes);
      expect(toldOffline(disk)).toEqual(truth(disk));
      expect(told(new Catalog("", disk))).toEqual(truth(disk));
      // Whole again, in one line for each session that had none.
      expect([readIndex(disk, "").kind, readIndex(disk, "").rows.size]).toEqual(["sound", 3]);
    }
  });

  it("I104 I142 shows a record that was damaged since: at the next start, and when it is read under a living daemon", async () => {
    const disk = await homeOfThree();
    const living = new Catalog("", disk);
    disk.plant(sessionRecordPath("", first), Buffer.from("{"));
    const damaged = [[first, "session.json is not JSON"]];
    expect(told(new Catalog("", disk))).toMatchObject({ damaged });
    expect(toldOffline(disk)).toMatchObject({ damaged });
    expect(living.summary(first)?.name).toBe("one");
    expect(living.get(first)).toBeUndefined();
    expect([...living.quarantined]).toEqual(damaged);
    expect(living.summary(second)).toBeDefined();
  });

  it("I155 a record that cannot be opened for now is not taken for damaged", async () => {
    const disk = await homeOfThree();
    const catalog = new Catalog("", disk);
    disk.inject({ call: "open", errno: "EMFILE", pathEnds: "session.json", lasting: true });
    expect(() => catalog.get(first)).toThrow(expect.objectContaining({ code: "EMFILE" }));
    disk.heal();
    expect(catalog.get(first)?.name).toBe("one");
  });

  it("I124 a partial copy beside a session at rest is swept", async () => {
    const disk = await homeOfThree();
    disk.plant(`${sessionRecordPath("", third)}.0123456789ab.tmp`, Buffer.from("{"));
    const catalog = new Catalog("", disk);
    expect(catalog.get(third)).toBeDefined();
    expect(disk.readdir(sessionDirectory("", third))).toEqual(["session.json"]);
  });

  it("keeps no records at rest in memory, and reads each at its use", async () => {
    const disk = emptyHome();
    const made = new Catalog("", disk);
    const ids = Array.from({ length: 100 }, (_, at) => idOf(at));
    for (const id of ids) await create(made, disk, sessionRecordOf(id, { wanted: "stopped", options: { id } }));
    const catalog = new Catalog("", disk);
    const readAll = (): void => {
      for (const id of ids) expect(catalog.get(id)?.options).toEqual({ id });
    };
    expect(openedBy(disk, readAll)).toHaveLength(100);
    expect(openedBy(disk, readAll)).toHaveLength(100);
  });

  it.each([{ calls: ["open"] }, { calls: ["write"] }, { calls: ["write", "ftruncate"] }] as const)(
    "I141 I168 a disk that refuses $calls of the index keeps no record from being written, and hides none",
    async ({ calls }) => {
      const disk = await homeOfThree();
      const catalog = new Catalog("", disk);
      for (const call of calls)
        disk.inject({ call, errno: "ENOSPC", pathEnds: "/index", lasting: true, effect: "half" });
      await catalog.update(third, wanting("stopped"));
      await catalog.update(first, (record) => ({ ...record, name: "renamed" }));
      expect(toldOffline(disk)).toEqual(truth(disk));
      expect(told(new Catalog("", disk))).toEqual(truth(disk));
      disk.heal();
      await catalog.update(second, wanting("stopped"));
      expect(openedBy(disk, () => readSummaries(disk, ""))).toEqual([]);
      expect(told(new Catalog("", disk))).toEqual(truth(disk));
    },
  );

  it("is not written where it cannot be made whole again, and is made anew by the next start", async () => {
    const disk = await homeOfThree();
    const damage = Buffer.from("damage\n");
    disk.plant(INDEX, damage);
    disk.inject({ call: "rename", errno: "ENOSPC", pathEnds: "/index" });
    const catalog = new Catalog("", disk);
    await catalog.update(first, wanting("archived"));
    expect(disk.contentOf(INDEX)).toEqual(damage);
    expect(told(new Catalog("", disk))).toEqual(truth(disk));
    expect(readIndex(disk, "")).toMatchObject({ kind: "sound", rows: { size: 3 } });
  });
});

const CHANGING = new Set<CallName>(["write", "ftruncate", "fsync", "fdatasync", "link", "unlink", "rename", "mkdir"]);

describe("a power cut", () => {
  it("I109 I140 at any call leaves an index that says with the records what the records say alone", async () => {
    const disk = emptyHome();
    let states = 0;
    const check = (): void => {
      for (const state of disk.crashStates({ cuts: 3, mixtures: 4, samples: 2, names: 3 })) {
        states += 1;
        const expected = truth(state);
        expect(toldOffline(state)).toEqual(expected);
        expect(told(new Catalog("", state))).toEqual(expected);
        expect(toldOffline(state)).toEqual(expected);
      }
    };
    let before: CallName | null = null;
    disk.onCall = (call) => {
      if (before !== null && CHANGING.has(before)) check();
      before = call;
    };
    const catalog = new Catalog("", disk);
    await create(catalog, disk, sessionRecordOf(first));
    await catalog.update(first, wanting("stopped"));
    await create(catalog, disk, sessionRecordOf(second, { wanted: "archived" }));
    await catalog.update(first, (record) => ({ ...record, name: "renamed" }));
    await catalog.remove(second, async () => {
      disk.rename(sessionDirectory("", second), `${sessionDirectory("", second)}.deleted`);
      disk.fsync(disk.open("/sessions", 0));
    });
    disk.plant(INDEX, Buffer.from(`${HEAD_LINE}\ndamage\n`));
    await new Catalog("", disk).update(first, wanting("archived"));
    disk.onCall = null;
    check();
    expect(told(catalog)).toMatchObject({ known: [{ sessionId: first, name: "renamed" }] });
    expect(states).toBeGreaterThan(500);
  }, 120_000);
});

const goldenOf = (name: string): string =>
  readFileSync(new URL(`../../golden/session-index/v1/${name}`, import.meta.url), "utf8");

describe("the format", () => {
  it("of version 1 is read as it was written, and written as it was", () => {
    const [head, ...lines] = goldenOf("index").trimEnd().split("\n");
    const rows = lines.flatMap((line) => decodeRow(line) ?? []);
    expect(head).toBe(HEAD_LINE);
    expect(rows).toEqual(JSON.parse(goldenOf("rows.json")));
    expect(rows.map(encodeRow)).toEqual(lines);
    const disk = emptyHome();
    disk.plant(INDEX, Buffer.from(goldenOf("index")));
    const found = readIndex(disk, "");
    expect([found.kind, found.lines, [...found.rows.values()]]).toEqual(["sound", 3, rows.slice(1)]);
  });

  it("is the one that docs/session-index.md shows", () => {
    const page = readFileSync(new URL("../../../../docs/session-index.md", import.meta.url), "utf8");
    const [, example] = /^```jsonl\n([^]*?)^```$/m.exec(page) ?? [];
    expect(example).toBe(goldenOf("index"));
  });
});
