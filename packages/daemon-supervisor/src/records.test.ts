import { constants, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { SimulatedDisk } from "@holdfast/recovery-journal/testing";
import { systemClock } from "@holdfast/shared-process";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Catalog } from "./catalog.ts";
import { readWorkerFiles } from "./descriptor-files.ts";
import { prepareHome } from "./home.ts";
import { intentOf, processOf, sampleStates } from "./lifecycle/samples.testing.ts";
import { stateNames } from "./lifecycle/state.ts";
import type { State } from "./lifecycle/state.ts";
import { Records } from "./records.ts";
import { makeSession, sessionRecordOf } from "./session-record.testing.ts";

const sessionId = "01a2aaaa-0000-7000-8000-000000000001";
let home: string;
beforeEach(async () => {
  home = join(mkdtempSync(join(tmpdir(), "records-")), "home");
  prepareHome(nodeFileSystem, home);
});
afterEach(() => rmSync(join(home, ".."), { recursive: true }));

async function records(
  fs: FileSystem = nodeFileSystem,
  catalogFs: FileSystem = nodeFileSystem,
): Promise<{ records: Records; catalog: Catalog }> {
  await makeSession(home, sessionRecordOf(sessionId));
  const catalog = new Catalog(home, catalogFs);
  return { records: new Records({ home, fs, clock: systemClock, catalog, epoch: 3, isOwner: () => true }), catalog };
}

const ready: State = { name: "ready", process: processOf("g"), launches: [], due: null };
const stopping = sampleStates.stopping[0]!;
const descriptor = (): string => join(home, "workers", `${sessionId}.json`);

it("writes what it can read back, for every state of the table", async () => {
  const { records: writer } = await records();
  for (const name of stateNames) {
    for (const state of sampleStates[name]) {
      await writer.persist(sessionId, { state: state, last: state, request: null });
      for (const read of readWorkerFiles(nodeFileSystem, home).descriptors)
        expect([name, read.kind]).toEqual([name, "descriptor"]);
    }
  }
});

it("I21 I27 keeps the intent with the process until the registration ends", async () => {
  const { records: writer, catalog } = await records();
  await writer.persist(sessionId, { state: stopping, last: ready, request: null });
  expect(catalog.get(sessionId)?.wanted).toBe("stopped");
  expect(JSON.parse(readFileSync(descriptor(), "utf8"))).toMatchObject({
    epoch: 3,
    stop: { stopId: "s", goal: "stop" },
  });
  await writer.persist(sessionId, { state: null, last: stopping, request: null });
  expect(existsSync(descriptor())).toBe(false);
});

it("writes nothing when nothing changed", async () => {
  const { records: writer } = await records();
  await writer.persist(sessionId, { state: ready, last: ready, request: null });
  const before = readFileSync(descriptor(), "utf8");
  await writer.persist(sessionId, { state: { ...ready, name: "reconnecting" }, last: ready, request: null });
  expect(readFileSync(descriptor(), "utf8")).toBe(before);
});

it("I168 a full disk leaves the intent as a bare name, and space brings the record back", async () => {
  let full = true;
  const refusing: FileSystem = {
    ...nodeFileSystem,
    write: (...args) => {
      if (full) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      return nodeFileSystem.write(...args);
    },
  };
  const { records: writer, catalog } = await records(refusing);
  await catalog.update(sessionId, (record) => ({ ...record, wanted: "stopped" }));
  await writer.persist(sessionId, { state: stopping, last: ready, request: null });
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.s.stop`]);
  full = false;
  await writer.persist(sessionId, {
    state: { ...stopping, intent: intentOf("archive", "t") },
    last: stopping,
    request: null,
  });
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.json`]);
});

const fullDisk = (): { fs: FileSystem; free: () => void } => {
  let full = true;
  const fs: FileSystem = {
    ...nodeFileSystem,
    write: (...args) => {
      if (full) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      return nodeFileSystem.write(...args);
    },
  };
  return { fs, free: () => (full = false) };
};
const finalizing = sampleStates.finalizing[0]!;

it("I168 a stop ends on a full disk: nothing names the process any more, the bare name tells the next boot", async () => {
  const { fs } = fullDisk();
  const { records: writer, catalog } = await records(nodeFileSystem, fs);
  await writer.persist(sessionId, { state: ready, last: ready, request: null });
  const { records: refused } = {
    records: new Records({ home, fs, clock: systemClock, catalog, epoch: 3, isOwner: () => true }),
  };
  await refused.persist(sessionId, { state: stopping, last: ready, request: null });
  await refused.persist(sessionId, { state: null, last: finalizing, request: null });
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.s.stop`]);
  expect(catalog.get(sessionId)?.wanted).toBe("stopped");
});

it("I168 where no inode is left a stop's bare name is another one of its descriptor", async () => {
  let full = false;
  const { O_CREAT } = constants;
  const fs: FileSystem = {
    ...nodeFileSystem,
    open: (path, flags, mode) =>
      full && flags & O_CREAT && !existsSync(path) ? refuse("ENOSPC") : nodeFileSystem.open(path, flags, mode),
  };
  const { records: writer, catalog } = await records(fs, fs);
  await writer.persist(sessionId, { state: ready, last: ready, request: null });
  full = true;
  await writer.persist(sessionId, { state: stopping, last: ready, request: null });
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.json`, `${sessionId}.s.stop`]);
  await writer.persist(sessionId, { state: null, last: finalizing, request: null });
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.s.stop`]);
  expect(catalog.get(sessionId)?.wanted).toBe("stopped");
});

it("I13 a stop that was rescinded leaves no bare name behind, also when its descriptor had not changed", async () => {
  const { fs, free } = fullDisk();
  const { records: writer, catalog } = await records(nodeFileSystem, fs);
  await writer.persist(sessionId, { state: ready, last: ready, request: null });
  const refused = new Records({ home, fs, clock: systemClock, catalog, epoch: 3, isOwner: () => true });
  refused.known(sessionId, { lifecycle: "ready", process: processOf("g"), launches: [] });
  await refused.persist(sessionId, { state: stopping, last: ready, request: null });
  free();
  await refused.persist(sessionId, { state: ready, last: stopping, request: null });
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.json`]);
});

it("I154 a failure without a process is kept in the session's own record", async () => {
  const { records: writer, catalog } = await records();
  const failed = sampleStates.failed.find(({ process }) => process === null)!;
  await writer.persist(sessionId, { state: failed, last: ready, request: null });
  expect(new Catalog(home).get(sessionId)?.failure).toEqual({ code: "session_failed", reason: "budget" });
  await writer.persist(sessionId, { state: ready, last: failed, request: null });
  expect(catalog.get(sessionId)?.failure).toBeNull();
});

it("writes of one session are in order and each sees the one before", async () => {
  const { catalog } = await records();
  const add = (name: string): Promise<void> =>
    catalog.update(sessionId, (record) => ({ ...record, options: { ...record.options, [name]: "set" } }));
  await Promise.all([add("one"), add("two"), add("three")]);
  expect(new Catalog(home).get(sessionId)?.options).toEqual({ one: "set", two: "set", three: "set" });
});

it("I129 an archive of a session at rest ends the bare name of an older stop, which would undo it at the next boot", async () => {
  const { fs, free } = fullDisk();
  const { records: writer, catalog } = await records(nodeFileSystem, fs);
  await writer.persist(sessionId, { state: ready, last: ready, request: null });
  const refused = new Records({ home, fs, clock: systemClock, catalog, epoch: 3, isOwner: () => true });
  await refused.persist(sessionId, { state: stopping, last: ready, request: null });
  await refused.persist(sessionId, { state: null, last: finalizing, request: null });
  free();
  await refused.rest(sessionId, (record) => ({ ...record, wanted: "archived" }));
  expect(readdirSync(join(home, "workers"))).toEqual([]);
  expect(new Catalog(home).get(sessionId)?.wanted).toBe("archived");
});

it("writes nothing over the records of another owner", async () => {
  const { catalog } = await records();
  const deposed = new Records({
    home,
    fs: nodeFileSystem,
    clock: systemClock,
    catalog,
    epoch: 3,
    isOwner: () => false,
  });
  await expect(deposed.persist(sessionId, { state: ready, last: ready, request: null })).rejects.toMatchObject({
    code: "ownership_lost",
  });
  expect(readdirSync(join(home, "workers"))).toEqual([]);
});

/** A disk whose directories cannot be synced: what is renamed is in place, and not proven to stay. */
const unsynced = (): { fs: FileSystem; heal: () => void } => {
  let broken = true;
  const fs: FileSystem = {
    ...nodeFileSystem,
    fsyncAsync: (fd) => {
      const isDirectory = nodeFileSystem.fstat(fd).isDirectory();
      if (broken && isDirectory) return Promise.reject(Object.assign(new Error("broken"), { code: "EIO" }));
      return nodeFileSystem.fsyncAsync(fd);
    },
  };
  return { fs, heal: () => (broken = false) };
};

it("I109 a session's record that is in place counts, and is written until it is durable", async () => {
  const { fs, heal } = unsynced();
  const { catalog } = await records(nodeFileSystem, fs);
  const stop = (): Promise<void> => catalog.update(sessionId, (record) => ({ ...record, wanted: "stopped" }));
  await expect(stop()).rejects.toMatchObject({ code: "replaced_not_durable" });
  expect([catalog.get(sessionId)?.wanted, new Catalog(home).get(sessionId)?.wanted]).toEqual(["stopped", "stopped"]);
  await expect(stop()).rejects.toMatchObject({ code: "replaced_not_durable" });
  heal();
  await expect(stop()).resolves.toBeUndefined();
});

it("I168 a goal that is in place and no more is not taken for what the older bare intent says", async () => {
  const { fs, heal } = unsynced();
  let full = true;
  const refusing: FileSystem = {
    ...fs,
    write: (...args) => {
      if (full) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      return fs.write(...args);
    },
  };
  const { catalog } = await records(nodeFileSystem, refusing);
  const writer = new Records({ home, fs: nodeFileSystem, clock: systemClock, catalog, epoch: 3, isOwner: () => true });
  await writer.persist(sessionId, { state: stopping, last: ready, request: null });
  await writer.persist(sessionId, { state: null, last: finalizing, request: null });
  const archive = (): Promise<void> => writer.rest(sessionId, (record) => ({ ...record, wanted: "archived" }));
  full = false;
  await expect(archive()).rejects.toMatchObject({ code: "replaced_not_durable" });
  full = true;
  await expect(archive()).rejects.toMatchObject({ code: "not_replaced" });
  // A start would go by the stronger of the two.
  await expect(writer.rest(sessionId, (record) => ({ ...record, wanted: "stopped" }))).rejects.toMatchObject({
    code: "not_replaced",
  });
  full = false;
  heal();
  await archive();
  expect([readdirSync(join(home, "workers")), new Catalog(home).get(sessionId)?.wanted]).toEqual([[], "archived"]);
});

const refuse = (errno: string): never => {
  throw Object.assign(new Error(errno), { code: errno });
};

it("I129 a bare intent that could neither be synced nor removed goes with the records that rescind it", async () => {
  let broken = true;
  const fs: FileSystem = {
    ...nodeFileSystem,
    write: (...args) => (broken ? refuse("ENOSPC") : nodeFileSystem.write(...args)),
    fsync: (fd) => (broken ? refuse("EIO") : nodeFileSystem.fsync(fd)),
    unlink: (path) => (broken ? refuse("EIO") : nodeFileSystem.unlink(path)),
  };
  const { catalog } = await records(nodeFileSystem, fs);
  const writer = new Records({ home, fs, clock: systemClock, catalog, epoch: 3, isOwner: () => true });
  await expect(writer.persist(sessionId, { state: stopping, last: ready, request: null })).rejects.toThrow("ENOSPC");
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.s.stop`]);
  broken = false;
  await writer.persist(sessionId, { state: ready, last: stopping, request: null });
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.json`]);
});

it("I168 a bare intent that could neither be synced nor removed is taken for what it is once it can be synced", async () => {
  let broken = true;
  const fs: FileSystem = {
    ...nodeFileSystem,
    write: () => refuse("ENOSPC"),
    fsync: (fd) => (broken ? refuse("EIO") : nodeFileSystem.fsync(fd)),
    unlink: (path) => (broken ? refuse("EIO") : nodeFileSystem.unlink(path)),
  };
  const { catalog } = await records(nodeFileSystem, fs);
  const writer = new Records({ home, fs, clock: systemClock, catalog, epoch: 3, isOwner: () => true });
  const stop = (): Promise<void> => writer.persist(sessionId, { state: stopping, last: ready, request: null });
  await expect(stop()).rejects.toThrow("ENOSPC");
  broken = false;
  await stop();
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.s.stop`]);
});

it("I130 I168 a bare intent that a start has found is durable before the stop goes on by it", async () => {
  const disk = new SimulatedDisk();
  for (const folder of ["/sessions", "/workers"]) disk.mkdir(folder, 0o700);
  await makeSession("", sessionRecordOf(sessionId), disk);
  for (const folder of ["/", "/sessions"]) disk.fsync(disk.open(folder, 0));
  const path = `/workers/${sessionId}.s.stop`;
  // Whoever made it died before its name was synced.
  disk.plant(path, Buffer.from(""));
  const catalog = new Catalog("", disk);
  const options = { home: "", fs: disk, clock: systemClock, catalog, epoch: 3, isOwner: () => true };
  const writer = new Records(options);
  writer.knownIntents(sessionId, { standing: [path], overtaken: [] });
  disk.inject({ call: "write", errno: "ENOSPC", lasting: true });
  const state: State = { ...finalizing, intent: intentOf("stop", "s") };
  await writer.persist(sessionId, { state, last: state, request: null });
  expect([...disk.crashStates()].filter((left) => !left.exists(path))).toEqual([]);
});

it.each(["descriptor", "bare intent"])(
  "I109 I129 a record that a start has found is durable before the %s beside it goes",
  async (what) => {
    const disk = new SimulatedDisk();
    for (const folder of ["/sessions", "/workers"]) disk.mkdir(folder, 0o700);
    await makeSession("", sessionRecordOf(sessionId), disk);
    for (const folder of ["/", "/sessions"]) disk.fsync(disk.open(folder, 0));
    // Whoever wrote it died before its name was synced.
    disk.inject({ call: "fsync", errno: "EIO", pathEnds: `/${sessionId}` });
    const ended = { wanted: "stopped", failure: null } as const;
    const first = new Catalog("", disk).update(sessionId, (record) => ({ ...record, ...ended }));
    await expect(first).rejects.toMatchObject({ code: "replaced_not_durable" });
    const catalog = new Catalog("", disk);
    const writer = new Records({ home: "", fs: disk, clock: systemClock, catalog, epoch: 3, isOwner: () => true });
    const path = `/workers/${sessionId}.018c0000-0001-4000-8000-000000000001.stop`;
    if (what === "bare intent") {
      disk.plant(path, Buffer.from(""));
      writer.knownIntents(sessionId, { standing: [path], overtaken: [] });
    }
    const intent = intentOf("stop", "018c0000-0001-4000-8000-000000000001");
    const state: State = { ...finalizing, launches: [], intent };
    await writer.persist(sessionId, { state, last: state, request: null });
    if (what === "descriptor") await writer.persist(sessionId, { state: null, last: state, request: null });
    const wanted = [...disk.crashStates()]
      .filter((left) => !left.exists(path))
      .map((left) => new Catalog("", left).get(sessionId)?.wanted);
    expect(new Set(wanted)).toEqual(new Set(["stopped"]));
  },
);

it("I129 a record that is written while a bare intent stands names it as overtaken: a crash may come before that goes", async () => {
  const { fs, free } = fullDisk();
  const { catalog } = await records(fs, fs);
  let broken = true;
  const failing: FileSystem = { ...fs, unlink: (path) => (broken ? refuse("EIO") : fs.unlink(path)) };
  const writer = new Records({ home, fs: failing, clock: systemClock, catalog, epoch: 3, isOwner: () => true });
  const replacing: State = { ...stopping, intent: intentOf("replace", "t") };
  await writer.persist(sessionId, { state: replacing, last: ready, request: null });
  free();
  await expect(writer.persist(sessionId, { state: stopping, last: replacing, request: null })).rejects.toThrow("EIO");
  expect(new Catalog(home).get(sessionId)).toMatchObject({ wanted: "stopped", overtaken: ["t"] });
  broken = false;
  await writer.persist(sessionId, { state: stopping, last: stopping, request: null });
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.json`]);
});

it("I129 a bare intent that another one replaced is gone for good before that one counts", async () => {
  const { fs } = fullDisk();
  const { catalog } = await records(nodeFileSystem, fs);
  let broken = true;
  const failing: FileSystem = { ...fs, unlink: (path) => (broken ? refuse("EIO") : fs.unlink(path)) };
  const writer = new Records({ home, fs: failing, clock: systemClock, catalog, epoch: 3, isOwner: () => true });
  await writer.persist(sessionId, { state: stopping, last: ready, request: null });
  const resumed: State = { ...stopping, intent: intentOf("replace", "t") };
  const resume = (): Promise<void> => writer.persist(sessionId, { state: resumed, last: stopping, request: null });
  await expect(resume()).rejects.toThrow("EIO");
  await expect(resume()).rejects.toThrow("EIO");
  broken = false;
  await resume();
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.t.replace`]);
});

it("I139 I164 whoever loses the home between two records of a state leaves the second alone", async () => {
  let isOwner = true;
  const losing: FileSystem = {
    ...nodeFileSystem,
    fsyncAsync: (fd) => {
      isOwner = false;
      return nodeFileSystem.fsyncAsync(fd);
    },
  };
  const { catalog } = await records(nodeFileSystem, losing);
  const options = { home, fs: nodeFileSystem, clock: systemClock, catalog, epoch: 3, isOwner: () => isOwner };
  const writer = new Records(options);
  const written = writer.persist(sessionId, { state: stopping, last: ready, request: null });
  await expect(written).rejects.toMatchObject({ code: "ownership_lost" });
  expect(readdirSync(join(home, "workers"))).toEqual([]);
  isOwner = true;
  await writer.persist(sessionId, { state: stopping, last: ready, request: null });
  const last: State = { ...finalizing, intent: intentOf("archive", "s") };
  const ended = writer.persist(sessionId, { state: null, last, request: null });
  await expect(ended).rejects.toMatchObject({ code: "ownership_lost" });
  expect(readdirSync(join(home, "workers"))).toEqual([`${sessionId}.json`]);
});

const optionsOf = (fs: FileSystem): ConstructorParameters<typeof Records>[0] => {
  return { home, fs, clock: systemClock, catalog: new Catalog(home), epoch: 3, isOwner: () => true };
};

it("I109 a descriptor that is in place is replaced by the state before it, and removed with its session", async () => {
  const { fs, heal } = unsynced();
  const { records: writer } = await records(fs);
  const replaced: State = { ...ready, process: processOf("h") };
  await expect(writer.persist(sessionId, { state: ready, last: ready, request: null })).rejects.toThrow("broken");
  heal();
  await writer.persist(sessionId, { state: null, last: ready, request: null });
  expect(existsSync(descriptor())).toBe(false);

  await new Records(optionsOf(nodeFileSystem)).persist(sessionId, { state: ready, last: ready, request: null });
  const failing = unsynced();
  const later = new Records(optionsOf(failing.fs));
  later.known(sessionId, { lifecycle: "ready", process: processOf("g"), launches: [] });
  await expect(later.persist(sessionId, { state: replaced, last: ready, request: null })).rejects.toThrow("broken");
  failing.heal();
  await later.persist(sessionId, { state: ready, last: replaced, request: null });
  expect(JSON.parse(readFileSync(descriptor(), "utf8")).process).toEqual(processOf("g"));
});
