import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { openSessionStore, readTranscript } from "./index.ts";
import type { SessionStore } from "./index.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-transcript-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function open(generation: string): Promise<SessionStore> {
  const opened = await openSessionStore({
    directory,
    sessionId: "s1",
    owner: { generation, identity: {} },
    probeOwner: () => "gone",
    engine: "inline",
  });
  if (opened.kind !== "opened") throw new Error(JSON.stringify(opened));
  return opened.store;
}

const path = (): string => join(directory, "transcript.jsonl");
const parseLine = (line: string): Record<string, unknown> => Object(JSON.parse(line));
const replay = (from: string): string[] =>
  [...readTranscript({ path: path(), from })].map(
    ({ kind, cursor }) => `${kind} ${cursor?.generation}:${cursor?.sequence}`,
  );

async function written(generation: string, texts: readonly string[]): Promise<SessionStore> {
  const store = await open(generation);
  for (const text of texts) store.append({ type: "message", text });
  await store.sync();
  return store;
}

describe("reading a transcript", () => {
  it("replays from the start, from a cursor, or nothing", async () => {
    const store = await written("g1", ["a", "b", "c"]);
    expect(store.endCursor).toBe("g1:3");
    expect(replay("start")).toEqual(["event g1:1", "event g1:2", "event g1:3"]);
    expect(replay("g1:2")).toEqual(["event g1:3"]);
    expect(replay("g1:3")).toEqual([]);
    expect(replay("now")).toEqual([]);
    expect(() => replay("nonsense")).toThrow("not a cursor");
  });

  it("I170 goes on behind the last durable line and names what a reader saw and the crash took", async () => {
    await written("g1", ["a", "b"]);
    await written("g2", ["c", "d", "e"]);
    expect(replay("g1:2")).toEqual(["event g2:3", "event g2:4", "event g2:5"]);
    expect(replay("g1:4")).toEqual(["gap g1:2", "event g2:3", "event g2:4", "event g2:5"]);
    expect(replay("g2:9")).toEqual(["gap g2:5"]);
    expect(replay("gone:3").slice(0, 2)).toEqual(["gap undefined:undefined", "event g1:1"]);
    const [gap] = readTranscript({ path: path(), from: "g1:4" });
    expect(JSON.parse(gap?.line ?? "")).toMatchObject({ type: "gap", from: "g1:4", to: "g1:2", cursor: "g1:2" });
  });

  it("I140 I142 cuts a torn tail, names a damaged line and goes on", async () => {
    const store = await written("g1", ["a", "b"]);
    await store.close();
    appendFileSync(path(), "damage\n\0\0\0\0");
    await written("g2", ["c"]);
    expect(replay("start")).toEqual(["event g1:1", "event g1:2", "gap g1:2", "event g2:3"]);
  });

  it("I140 I142 names a line in which a power cut left a hole, though its beginning and its end are there", async () => {
    const store = await written("g1", ["a"]);
    await store.close();
    appendFileSync(path(), `{"cursor":"g1:2","type":"text","te\0\0\0\0"}\n`);
    await written("g2", ["c"]);
    expect(replay("start")).toEqual(["event g1:1", "gap g1:1", "event g2:3"]);
  });

  it("I150 keeps text byte-exact, one line per event", async () => {
    const text = `a\u2028b\u2029c\u0085d\re\u0000f${"😀".repeat(250_000)}\n`;
    await written("g1", [text, "after"]);
    const [first] = readTranscript({ path: path() });
    expect(parseLine(first?.line ?? "{}")["text"] === text).toBe(true);
    expect(replay("g1:1")).toEqual(["event g1:2"]);
  });

  it("I157 reads a long transcript in pieces, from any cursor", async () => {
    let read = 0;
    const store = await written(
      "g1",
      Array.from({ length: 2_000 }, (_, n) => `${n} ${"x".repeat(1_000)}`),
    );
    const counting: FileSystem = {
      ...nodeFileSystem,
      read: (...call) => {
        const count = nodeFileSystem.read(...call);
        read += count;
        return count;
      },
    };
    const lines = readTranscript({ path: path(), from: "g1:1990", fs: counting });
    expect([...lines]).toHaveLength(10);
    expect(read).toBeLessThan(store.transcriptSize * 2);
  });

  it("has no lines where there is no file", () => {
    expect(replay("start")).toEqual([]);
  });
});
