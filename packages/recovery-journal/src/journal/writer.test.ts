import { describe, expect, it } from "vitest";
import {
  openSimulated,
  SIMULATED_DIRECTORY,
  SIMULATED_KINDS,
  SimulatedDisk,
  simulatedOptions,
} from "../testing/index.ts";
import { openJournal } from "./open.ts";
import { readJournal } from "./read.ts";
import { removeJournal } from "./remove.ts";

const prompt = (operationId: string, detail = {}) =>
  ({ operationId, generation: "g1", kind: "prompt", detail }) as const;
const report = (disk: SimulatedDisk) => readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, disk);

describe("tokens", () => {
  it("I66 I67 keep concurrent operations apart through a restart", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    const [first] = await Promise.all([
      journal.begin(prompt("a")),
      journal.begin(prompt("b")),
      journal.begin(prompt("c")),
    ]);
    await journal.end(first, { kind: "completed" });
    const next = await openSimulated(disk);
    expect(next.open().map(({ operationId }) => operationId)).toEqual(["b", "c"]);
    const token = next.adopt({ operationId: "b", generation: "g1" });
    expect(token?.kind).toBe("prompt");
    expect(next.adopt({ operationId: "b", generation: "g2" })).toBe(null);
  });

  it("I72 ignore a stale end, count it and write nothing", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    const stale = await journal.begin(prompt("a"));
    expect(await journal.end(stale, {})).toBe("ended");
    const current = await journal.begin(prompt("a"));
    const before = disk.contentOf(`${SIMULATED_DIRECTORY}/e00000001.jsonl`);
    expect(await journal.end(stale, {})).toBe("stale");
    await expect(journal.note(stale, {})).rejects.toMatchObject({ code: "stale_token" });
    expect(disk.contentOf(`${SIMULATED_DIRECTORY}/e00000001.jsonl`).equals(before)).toBe(true);
    expect(journal.counters().staleEnds).toBe(1);
    expect(await Promise.all([journal.end(current, {}), journal.end(current, {})])).toEqual(["ended", "stale"]);
  });

  it("I72 say stale only of what is durable: of two ends the second takes effect where the first cannot", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    const token = await journal.begin(prompt("a"));
    disk.inject({ call: "write", errno: "ENOSPC" });
    const [first, second] = await Promise.allSettled([journal.end(token, {}), journal.end(token, {})]);
    expect(first).toMatchObject({ status: "rejected", reason: { code: "disk_full" } });
    expect(second).toEqual({ status: "fulfilled", value: "ended" });
    expect((await openSimulated(disk)).open()).toEqual([]);
  });

  it("I68 I73 restore all or nothing, and reject duplicates before anything is written", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    await journal.restore([prompt("a"), prompt("b")]);
    const records = journal.counters().records;
    await expect(journal.restore([prompt("c"), prompt("c")])).rejects.toMatchObject({ code: "duplicate_operation" });
    await expect(journal.restore([prompt("d"), prompt("b")])).rejects.toMatchObject({ code: "duplicate_operation" });
    const twice = await Promise.allSettled([journal.begin(prompt("e")), journal.begin(prompt("e"))]);
    expect(twice.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(journal.counters().records).toBe(records + 1);
  });

  it("I92 restore judges all of them before it begins any, and returns what it has admitted", async () => {
    const journal = await openSimulated(new SimulatedDisk());
    const admitted = await journal.restore([prompt("a"), prompt("b")]);
    expect(admitted.map(({ operationId }) => operationId)).toEqual(["a", "b"]);
    await expect(journal.restore([prompt("c"), prompt("b")])).rejects.toMatchObject({ code: "duplicate_operation" });
    expect(journal.open().map(({ operationId }) => operationId)).toEqual(["a", "b"]);
    expect(await journal.restore([prompt("c")])).toMatchObject([{ operationId: "c" }]);
  });

  it("are refused beyond the writer's limit, which lies below the reader's", async () => {
    const journal = await openSimulated(new SimulatedDisk());
    const many = Array.from({ length: 1024 }, (_, index) => prompt(`p${index}`));
    const tokens = await journal.restore(many);
    await expect(journal.begin(prompt("more"))).rejects.toMatchObject({ code: "journal_full" });
    expect(await Promise.all(tokens.map((token) => journal.end(token, {})))).not.toContain("stale");
  });
});

describe("remembered requests", () => {
  it("settle with their operation's end and stay through compactions and restarts", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    const token = await journal.admit(prompt("a"), { requestId: "r1", hash: "h1" });
    expect(journal.remembered("r1")).toMatchObject({ hash: "h1", outcome: null });
    await journal.end(token, { kind: "completed" });
    for (let round = 0; round < 40; round += 1) {
      const filler = await journal.begin(prompt("filler", { text: "x".repeat(2000) }));
      await journal.end(filler, {});
    }
    expect(journal.counters().compactions).toBeGreaterThan(1);
    await journal.remember({ requestId: "r2", hash: "h2", outcome: { kind: "refused" } });
    await journal.close();
    const next = await openSimulated(disk);
    expect(next.remembered("r1")).toMatchObject({ outcome: { kind: "completed" } });
    expect(next.remembered("r2")).toMatchObject({ outcome: { kind: "refused" } });
    await expect(next.admit(prompt("b"), { requestId: "r1", hash: "h1" })).rejects.toMatchObject({
      code: "duplicate_request",
    });
  });

  it("I111 are bounded by count and age, but never lost while their operation is open", async () => {
    let now = 0;
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk, { now: () => now, remember: { count: 3, ageMs: 1000 } });
    const token = await journal.admit(prompt("a"), { requestId: "open", hash: "h" });
    for (let index = 0; index < 5; index += 1)
      await journal.remember({ requestId: `r${index}`, hash: "h", outcome: {} });
    expect(["r0", "r1", "r2", "r3", "r4"].map((id) => journal.remembered(id) !== null)).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
    now = 5000;
    expect(journal.remembered("r4")).toBe(null);
    expect(journal.remembered("open")).not.toBe(null);
    await journal.end(token, { kind: "late" });
  });
});

describe("a request", () => {
  it("is the youngest again when it is remembered again", async () => {
    const disk = new SimulatedDisk();
    const remember = { count: 3, ageMs: 1000 };
    const journal = await openSimulated(disk, { remember });
    for (const requestId of ["r1", "r2", "r3", "r1", "r4"])
      await journal.remember({ requestId, hash: "h", outcome: {} });
    const kept = ["r1", "r2", "r3", "r4"].filter((requestId) => journal.remembered(requestId) !== null);
    expect(kept).toEqual(["r1", "r3", "r4"]);
    const found = report(disk);
    expect(found.kind === "ok" && found.remembered.map(({ requestId }) => requestId)).toEqual(["r2", "r3", "r1", "r4"]);
  });

  it("I143 has one record on its way: the outcome of one is not taken by another of its id", async () => {
    const journal = await openSimulated(new SimulatedDisk());
    const asked = { requestId: "r", hash: "h" };
    const both = await Promise.allSettled([
      journal.remember({ ...asked, outcome: { kind: "refused" } }),
      journal.admit(prompt("a"), asked),
    ]);
    expect(both).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: "duplicate_request" } },
    ]);
    expect([journal.open(), journal.remembered("r")?.outcome]).toEqual([[], { kind: "refused" }]);
  });
});

describe("writing", () => {
  it.each(["inline", "pool", "thread"] as const)("commits all of one turn with one flush: %s", async (engine) => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk, { engine });
    const calls: string[] = [];
    disk.onCall = (call) => calls.push(call);
    await Promise.all(Array.from({ length: 24 }, (_, index) => journal.begin(prompt(`p${index}`))));
    expect(calls.filter((call) => call === "fdatasync")).toHaveLength(1);
    expect(calls).toEqual(["write", "fdatasync", "exists", "hasName", "write"]);
    expect(journal.counters()).toMatchObject({ flushes: 1, records: 24 });
  });

  it("I69 completes short writes", async () => {
    const disk = new SimulatedDisk();
    disk.writeLimitBytes = 7;
    const journal = await openSimulated(disk);
    await journal.begin(prompt("a", { text: "é".repeat(100) }));
    expect(report(disk)).toMatchObject({ kind: "ok", tornBytes: 0, open: [{ operationId: "a" }] });
  });

  it("I141 I168 on a full disk refuses begins visibly, still ends work, and serves again by itself", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    disk.capacityBytes = disk.usedBytes;
    const tokens = [];
    let failure: unknown = null;
    for (let index = 0; failure === null; index += 1) {
      try {
        tokens.push(await journal.begin(prompt(`p${index}`, { text: "x".repeat(500) })));
      } catch (error) {
        failure = error;
      }
    }
    expect(failure).toMatchObject({ code: "disk_full" });
    expect(report(disk)).toMatchObject({ kind: "ok", tornBytes: 0 });
    expect(journal.open()).toHaveLength(tokens.length);
    for (const token of tokens) expect(await journal.end(token, { kind: "cancelled" })).toBe("ended");
    await expect(journal.begin(prompt("full", { text: "x".repeat(9000) }))).rejects.toMatchObject({
      code: "disk_full",
    });
    disk.heal();
    await journal.begin(prompt("again", { text: "x".repeat(9000) }));
    expect(report(disk)).toMatchObject({ kind: "ok", open: [{ operationId: "again" }] });
  });

  it.each([
    { engine: "inline", errno: "EIO" },
    { engine: "pool", errno: "EIO" },
    { engine: "thread", errno: "EIO" },
    // Not a refusal for want of room: the record is written, and may be found.
    { engine: "inline", errno: "ENOSPC" },
    { engine: "pool", errno: "ENOSPC" },
    { engine: "thread", errno: "ENOSPC" },
  ] as const)("is poisoned for good by a failed flush: $errno $engine", async ({ engine, errno }) => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk, { engine });
    await journal.begin(prompt("a"));
    disk.inject({ call: "fdatasync", errno });
    await expect(journal.begin(prompt("b"))).rejects.toMatchObject({ code: "journal_poisoned" });
    await expect(journal.begin(prompt("c"))).rejects.toMatchObject({ code: "journal_poisoned" });
    expect(journal.state).toBe("poisoned");
    await journal.close();
    const next = await openSimulated(disk);
    expect(next.open().map(({ operationId }) => operationId)).toContain("a");
    for (const state of disk.crashStates()) expect(report(state)).toMatchObject({ kind: "ok", segment: 2 });
    expect(disk.openDescriptors).toBe(1);
  });

  it("leaves a small released journal behind, whatever it grew to, and removes it on request", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    const token = await journal.begin(prompt("a", { text: "x".repeat(100_000) }));
    expect(disk.usedBytes).toBeGreaterThan(200_000);
    await journal.end(token, {});
    await Promise.all([journal.close(), journal.close()]);
    expect(disk.usedBytes).toBe(16 * 1024);
    expect(report(disk)).toMatchObject({ kind: "ok", released: true });
    expect(disk.openDescriptors).toBe(0);
    await expect(journal.begin(prompt("b"))).rejects.toMatchObject({ code: "journal_closed" });
    removeJournal(SIMULATED_DIRECTORY, disk);
    expect(report(disk)).toEqual({ kind: "fresh" });
  });
});

describe("ownership", () => {
  it("I144 leaves a journal to an owner that is not proven gone, and asks nobody about a released one", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    const probed: string[] = [];
    const options = simulatedOptions(disk, {
      owner: { generation: "g2", identity: {} },
      probeOwner: ({ generation }) => (probed.push(generation), "unknown"),
    });
    expect(await openJournal(options)).toMatchObject({ kind: "owned", owner: { generation: "g1" } });
    await journal.close();
    expect(await openJournal(options)).toMatchObject({ kind: "opened", report: { released: true } });
    expect(probed).toEqual(["g1"]);
  });

  it("I144 fences the old writer before its next acknowledgement when the probe was wrong", async () => {
    const disk = new SimulatedDisk();
    const old = await openSimulated(disk);
    await old.begin(prompt("a"));
    const next = await openSimulated(disk, { owner: { generation: "g2", identity: {} } });
    await expect(old.begin(prompt("b"))).rejects.toMatchObject({ code: "journal_fenced" });
    expect(old.state).toBe("fenced");
    await old.close();
    await next.begin(prompt("c"));
    expect(next.open().map(({ operationId }) => operationId)).toEqual(["a", "c"]);
  });

  it("I144 looks for a successor first and then for its own segment, and a successor retires the oldest first", async () => {
    const disk = new SimulatedDisk();
    const old = await openSimulated(disk);
    const looks: string[] = [];
    disk.onCall = (call, path) => ["exists", "hasName", "unlink"].includes(call) && looks.push(`${call} ${path}`);
    await old.begin(prompt("a"));
    // In the other order an owner that sleeps between the looks may miss two successors: it sees its own, then no next one.
    expect(looks.splice(0)).toEqual([
      `exists ${SIMULATED_DIRECTORY}/e00000002.jsonl`,
      `hasName ${SIMULATED_DIRECTORY}/e00000001.jsonl`,
    ]);
    disk.inject({ call: "ftruncate", errno: "EIO" });
    await expect(openSimulated(disk)).rejects.toMatchObject({ code: "journal_unavailable" });
    looks.splice(0);
    await openSimulated(disk);
    expect(looks.filter((look) => look.endsWith(".jsonl"))).toEqual([
      `unlink ${SIMULATED_DIRECTORY}/e00000001.jsonl`,
      `unlink ${SIMULATED_DIRECTORY}/e00000002.jsonl`,
    ]);
  });

  it("I144 gives two openers at every interleaving of their calls one writer, and no acknowledged record is lost", async () => {
    for (let place = 1; place < 60; place += 1) {
      const disk = new SimulatedDisk();
      const old = await openSimulated(disk);
      await old.begin(prompt("a"));
      let calls = 0;
      let second: ReturnType<typeof openSimulated> | null = null;
      disk.onCall = () => {
        calls += 1;
        if (calls === place) second = openSimulated(disk, { owner: { generation: "g3", identity: {} } });
      };
      const first = openSimulated(disk, { owner: { generation: "g2", identity: {} } });
      const journals = await Promise.all([first, second ?? first]);
      disk.onCall = null;
      const writes = await Promise.allSettled(
        [...new Set(journals)].map((journal, index) => journal.begin(prompt(`w${index}`))),
      );
      const acknowledged = writes.flatMap(({ status }, index) => (status === "fulfilled" ? [`w${index}`] : []));
      expect([place, acknowledged.length]).toEqual([place, 1]);
      expect(report(disk)).toMatchObject({
        kind: "ok",
        open: [{ operationId: "a" }, { operationId: acknowledged[0] }],
      });
    }
  });
});

describe("refusals", () => {
  it("I100 name what is missing, unreadable, open to others, foreign or of a later version", async () => {
    const disk = new SimulatedDisk();
    expect(await openJournal(simulatedOptions(disk, { expect: "existing" }))).toMatchObject({ why: "missing" });
    const journal = await openSimulated(disk);
    await journal.begin(prompt("a"));
    expect(readJournal(SIMULATED_DIRECTORY, ["tool"], disk)).toMatchObject({ kind: "refused", why: "corrupt" });
    disk.inject({ call: "read", errno: "EIO" });
    expect(report(disk)).toMatchObject({ kind: "refused", why: "unreadable" });
    disk.chmod(SIMULATED_DIRECTORY, 0o750);
    expect(report(disk)).toMatchObject({ kind: "refused", why: "permissions" });
    disk.chmod(SIMULATED_DIRECTORY, 0o700);
    disk.plant(`${SIMULATED_DIRECTORY}/e00000001.jsonl`, Buffer.alloc(0));
    expect(report(disk)).toMatchObject({ kind: "refused", why: "corrupt", offset: 0 });
  });

  it("I141 leave nothing behind when the disk is too full to take over", async () => {
    const disk = new SimulatedDisk();
    const journal = await openSimulated(disk);
    await journal.begin(prompt("a"));
    await journal.close();
    const names = disk.readdir(SIMULATED_DIRECTORY);
    disk.capacityBytes = disk.usedBytes;
    await expect(openJournal(simulatedOptions(disk))).rejects.toMatchObject({ code: "disk_full" });
    expect(disk.readdir(SIMULATED_DIRECTORY)).toEqual(names);
    expect(disk.openDescriptors).toBe(0);
    disk.heal();
    expect(await openJournal(simulatedOptions(disk))).toMatchObject({ kind: "opened" });
  });
});
