import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestOf, openJournal, quarantineJournal } from "@holdfast/recovery-journal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeIo } from "../test/fake-io.ts";
import { run } from "./run.ts";

const AT = Date.parse("2026-01-02T03:04:05.678Z");
let root: string;
let directory: string;
let segment: string;

/** A journal with one open operation, one remembered request that is settled, and one that is not. */
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "holdfast-cli-journal-"));
  directory = join(root, "journal");
  segment = join(directory, "e00000001.jsonl");
  const opened = await openJournal({
    directory,
    owner: { generation: "g1", identity: { pid: 7 } },
    kinds: ["prompt"],
    probeOwner: () => "unknown",
    now: () => AT,
  });
  if (opened.kind !== "opened") throw new Error(opened.kind);
  const { journal } = opened;
  await journal.remember({ requestId: "r1", hash: "h1", outcome: { kind: "done" } });
  const token = await journal.admit(
    { operationId: "o1", generation: "g1", kind: "prompt" },
    { requestId: "r2", hash: "h2" },
  );
  await journal.note(token, { step: "dispatched" });
  await journal.close();
});
afterEach(() => rmSync(root, { recursive: true }));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function agent(args: readonly string[], terminal = false): Promise<Ran> {
  const io = new FakeIo({ terminal });
  io.env["NO_COLOR"] = "1";
  const code = await run(["journal", ...args, "--home", root], io);
  return { code, out: io.stdout.text, err: io.stderr.text };
}

async function json(...args: readonly string[]): Promise<{ code: number; value: unknown }> {
  const { code, out, err } = await agent([...args, "--json"]);
  expect(err).toBe("");
  return { code, value: JSON.parse(out) };
}

/** Changes one byte of the record of this type. */
function damage(path: string, type: string): number {
  const bytes = readFileSync(path);
  const place = bytes.indexOf(`"t":"${type}"`);
  bytes[place] = 0;
  writeFileSync(path, bytes);
  return bytes.lastIndexOf("\n", place) + 1;
}

const shown = {
  schemaVersion: 1,
  kind: "journal",
  verdict: "ok",
  released: true,
  tornBytes: 0,
  quarantines: [],
  owner: { generation: "g1", identity: { pid: 7 } },
  open: [{ operationId: "o1", generation: "g1", kind: "prompt", sequence: 1, noteCount: 1 }],
  requestCount: 2,
};

describe("agent journal show", () => {
  it("--json gives what is open, of the directory and of one segment", async () => {
    const place = { number: 1, file: segment, capacityBytes: 16_384 };
    for (const path of [directory, segment]) {
      expect(await json("show", path)).toEqual({ code: 0, value: { ...shown, path, segment: place } });
    }
  });

  it("--json --requests --records gives the lists too", async () => {
    const { value } = await json("show", directory, "--requests", "--records");
    const at = "2026-01-02T03:04:05.678Z";
    expect(value).toMatchObject({
      requests: [
        { requestId: "r1", hash: "h1", outcome: { kind: "done" }, at },
        { requestId: "r2", hash: "h2", outcome: null, at },
      ],
      records: [
        { offset: 0, sequence: null, durable: null, record: { t: "head", n: 1 } },
        { sequence: 1, durable: 0, record: { t: "seal", count: 0 } },
        { sequence: 2, durable: 1, record: { t: "request", id: "r1" } },
        { sequence: 3, durable: 2, record: { t: "begin", ops: [{ id: "o1" }] } },
        { sequence: 4, durable: 3, record: { t: "note", detail: { step: "dispatched" } } },
        { sequence: 5, durable: 4, record: { t: "release" } },
        { sequence: null, durable: 5, record: { t: "mark" } },
      ],
    });
  });

  it("aligns on a terminal, with headings", async () => {
    const { code, out } = await agent(["show", directory, "--requests"], true);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        "verdict     ok",
        "segment     1",
        `file        ${segment}`,
        "capacity    16384 bytes",
        "generation  g1",
        'owner       {"pid":7}',
        "released    yes",
        "open        1",
        "requests    2",
        "",
        "KIND    OPERATION  GENERATION  NOTES",
        "prompt  o1         g1          1",
        "",
        "REQUEST  AT                        OUTCOME",
        'r1       2026-01-02T03:04:05.678Z  {"kind":"done"}',
        "r2       2026-01-02T03:04:05.678Z  -",
        "",
      ].join("\n"),
    );
  });

  it("puts tabs between the parts in a pipe, and each row's kind before it", async () => {
    const { out } = await agent(["show", directory, "--requests", "--records"]);
    const lines = out.trimEnd().split("\n");
    expect(lines).toContain("segment\t1");
    expect(lines).toContain("operation\tprompt\to1\tg1\t1");
    expect(lines).toContain('request\tr1\t2026-01-02T03:04:05.678Z\t{"kind":"done"}');
    expect(lines.filter((line) => line.startsWith("line\t")).map((line) => line.split("\t")[5])).toEqual([
      "head",
      "seal",
      "request",
      "begin",
      "note",
      "release",
      "mark",
    ]);
    expect(lines.at(-2)).toMatch(/^line\t\d+\t\d+\t5\t4\trelease\t-$/);
  });

  it("I71 shows the lines of a refused one, and exits 7", async () => {
    const offset = damage(segment, "begin");
    const { code, value } = await json("show", directory, "--records");
    expect(code).toBe(7);
    expect(value).toMatchObject({ verdict: "refused", reason: "corrupt", file: segment, offset });
    expect(value).toHaveProperty("records.3", {
      offset,
      bytes: expect.any(Number),
      sequence: null,
      durable: null,
      record: null,
    });
    const { out } = await agent(["show", directory, "--records"], true);
    expect(out).toMatch(/^verdict {5}refused\nreason {6}corrupt\nfile .+\nbyte {8}\d+\nmessage .+\n\nOFFSET/);
    expect(out).toMatch(/^\d+ +\d+ +- +- +bad +-$/m);
  });

  it("lets nothing that a journal says move the cursor, and takes any number for a time", async () => {
    const line = {
      version: 1,
      activeSessionId: "\u001b[2J",
      sessionId: "a\u202eb\u2066c\u200fd\ufeffe\u2028f\u0085g",
      busy: true,
      operation: "p",
      recordedAt: 1e300,
    };
    const file = join(root, "activity.jsonl");
    writeFileSync(file, `${JSON.stringify(line)}\n`);
    const { code, out } = await agent(["show", file], true);
    expect(code).toBe(0);
    expect(out).toContain("?[2J");
    expect(out).toContain("a?b?c?d?e?f?g");
    expect(out).not.toMatch(/[^\P{C}\n]|\p{Zl}/u);
    expect((await agent(["show", file])).out).not.toMatch(/[^\P{C}\n\t]|\p{Zl}/u);
  });

  it("I85 shows a file of the origin's lines, its own keys apart", async () => {
    const id = "11111111-1111-4111-8111-111111111111";
    const first = { version: 1, activeSessionId: "a", sessionId: "s", busy: true, operation: "prompt", recordedAt: 1 };
    const second = { ...first, version: 2, operationId: id, generation: id };
    const file = join(root, "activity.jsonl");
    writeFileSync(file, `${JSON.stringify(first)}\n${JSON.stringify(second)}\n{"vers`);
    expect(await json("show", file)).toMatchObject({
      code: 0,
      value: {
        kind: "legacy",
        verdict: "ok",
        uncertainTail: true,
        sessions: [{ activeSessionId: "a", busy: true }],
        open: [{ operationId: null }, { operationId: id }],
      },
    });
    const { out } = await agent(["show", file]);
    expect(out).toBe(
      [
        "verdict\tok",
        "remark\tthe last line is cut off",
        "sessions\t1",
        "open\t2",
        "session\ta\ts\tbusy\tprompt\t1",
        "open\ta\t-\t-\tprompt",
        `open\ta\t${id}\t${id}\tprompt`,
        "",
      ].join("\n"),
    );
  });
});

describe("agent journal verify", () => {
  it("says that it is whole, and exits 0", async () => {
    const rest = { released: true, tornBytes: 0, quarantines: [] };
    const value = { schemaVersion: 1, path: directory, kind: "journal", verdict: "ok", ...rest };
    expect(await json("verify", directory)).toEqual({ code: 0, value });
    expect(await agent(["verify", directory], true)).toEqual({ code: 0, out: `ok: ${directory}\n`, err: "" });
    expect(await agent(["verify", directory])).toEqual({ code: 0, out: `ok\t${directory}\n`, err: "" });
  });

  it("says that a last batch is torn, which is no damage", async () => {
    const bytes = readFileSync(segment);
    const end = bytes.lastIndexOf("}") + 2;
    bytes.write('{"s":6,"d":5,"t":"be', end);
    writeFileSync(segment, bytes);
    expect(await json("verify", directory)).toMatchObject({ code: 0, value: { verdict: "ok", tornBytes: 20 } });
    const { out } = await agent(["verify", directory], true);
    expect(out).toBe(`ok: ${directory}: the last batch is torn (20 bytes), it was never acknowledged\n`);
  });

  it("I71 names reason, file and byte of what is refused, exits 7, and changes nothing", async () => {
    const offset = damage(segment, "begin");
    const before = readFileSync(segment);
    const value = { schemaVersion: 1, path: directory, kind: "journal", verdict: "refused" };
    const message = "record 3 is damaged";
    expect(await json("verify", directory)).toEqual({
      code: 7,
      value: { ...value, reason: "corrupt", file: segment, offset, message },
    });
    expect((await agent(["verify", directory], true)).out).toBe(
      `refused: corrupt: ${segment}: byte ${offset}: ${message}\n`,
    );
    expect(readFileSync(segment)).toEqual(before);
    expect(readdirSync(directory)).toEqual(["e00000001.jsonl"]);
  });

  it("I71 says that a journal is in quarantine, and exits 7 until that is resolved", async () => {
    damage(segment, "begin");
    const options = {
      directory,
      owner: { generation: "g2", identity: { pid: 8 } },
      kinds: ["prompt"],
      probeOwner: () => "gone" as const,
      now: () => AT,
    };
    const seen = { why: "corrupt" as const, path: segment, sha256: digestOf(segment) };
    const done = await quarantineJournal({ ...options, seen, reason: "the disk was replaced" });
    if (done.kind !== "quarantined") throw new Error(done.kind);
    const { evidence } = done.quarantine;
    const told = `what was before is not known: corrupt, ${evidence} (the disk was replaced)`;
    expect(await json("verify", directory)).toMatchObject({
      code: 7,
      value: { verdict: "quarantined", quarantines: [{ evidence, why: "corrupt", at: new Date(AT).toISOString() }] },
    });
    expect(await agent(["verify", directory], true)).toMatchObject({
      code: 7,
      out: `quarantined: ${directory}: ${told}\n`,
    });
    expect((await agent(["show", directory])).out).toContain(`verdict\tquarantined\nremark\t${told}\n`);
    const opened = await openJournal(options);
    if (opened.kind !== "opened") throw new Error(opened.kind);
    await opened.journal.resolveQuarantine(done.quarantine.id, { decision: "nothing was under way" });
    await opened.journal.close();
    expect(await json("verify", directory)).toMatchObject({ code: 0, value: { verdict: "ok", quarantines: [] } });
  });

  it("gives a directory the verdict that its owner would get, and judges a file by its content", async () => {
    chmodSync(segment, 0o644);
    expect(await json("verify", directory)).toMatchObject({ code: 7, value: { reason: "permissions", offset: null } });
    expect(await json("verify", segment)).toMatchObject({ code: 0, value: { verdict: "ok" } });
    const later = readFileSync(segment, "utf8").replace('"v":2', '"v":9');
    writeFileSync(segment, later);
    expect(await json("verify", segment)).toMatchObject({ code: 7, value: { reason: "corrupt", offset: 0 } });
  });

  it("says that a directory without segments is fresh", async () => {
    const empty = join(root, "empty");
    mkdirSync(empty, { mode: 0o700 });
    expect(await json("verify", empty)).toMatchObject({ code: 0, value: { kind: "journal", verdict: "fresh" } });
    expect((await agent(["show", empty], true)).out).toBe("verdict     fresh\n");
  });

  it("refuses a file that is none", async () => {
    const file = join(root, "notes.txt");
    writeFileSync(file, "hello\n");
    expect(await json("verify", file)).toMatchObject({
      code: 7,
      value: { kind: "legacy", reason: "corrupt", offset: 0 },
    });
    for (const bytes of ["\0".repeat(600), "hello", "\n"]) {
      writeFileSync(file, bytes);
      expect(await json("verify", file)).toMatchObject({ code: 7, value: { verdict: "refused", offset: 0 } });
    }
    writeFileSync(file, "");
    expect((await agent(["verify", file])).code).toBe(0);
  });
});

it.each(["show", "verify"])(
  "agent journal %s: a missing path is not found, none at all is a usage error",
  async (verb) => {
    const { code, err } = await agent([verb, join(root, "nowhere"), "--json"]);
    expect([code, JSON.parse(err)]).toMatchObject([4, { error: { code: "file_not_found", retryable: false } }]);
    expect((await agent([verb])).code).toBe(2);
    expect((await agent([verb, ""])).code).toBe(2);
  },
);
