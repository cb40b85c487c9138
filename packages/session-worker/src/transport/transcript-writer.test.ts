import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { TranscriptWriter } from "./transcript-writer.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "writer-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = (fdatasyncAsync: FileSystem["fdatasyncAsync"]): TranscriptWriter =>
  new TranscriptWriter({
    path: join(directory, "transcript.jsonl"),
    sessionId: "s",
    generation: "00000000-0000-4000-8000-000000000001",
    fs: { ...nodeFileSystem, fdatasyncAsync },
    engine: "pool",
    now: () => 0,
  });

it("I69 a sync resolves only when what was appended before it is flushed, also while a flush runs", async () => {
  const flushes: (() => void)[] = [];
  using writer = open(() => new Promise((resolve) => flushes.push(resolve)));
  const done: string[] = [];
  writer.append({ type: "message", text: "one" });
  const first = writer.sync().then(() => done.push("first"));
  while (flushes.length < 1) await Promise.resolve();
  writer.append({ type: "message", text: "two" });
  const second = writer.sync().then(() => done.push("second"));
  await new Promise((resolve) => setImmediate(resolve));
  expect([done, flushes.length]).toEqual([[], 1]);
  flushes[0]?.();
  await first;
  while (flushes.length < 2) await Promise.resolve();
  expect(done).toEqual(["first"]);
  flushes[1]?.();
  await second;
  expect(done).toEqual(["first", "second"]);
});

it("I69 after a flush that failed nothing is promised any more", async () => {
  using writer = open(() => Promise.reject(Object.assign(new Error("io"), { code: "EIO" })));
  writer.append({ type: "message", text: "one" });
  await expect(writer.sync()).rejects.toMatchObject({ code: "log_poisoned" });
  await expect(writer.sync()).rejects.toMatchObject({ code: "log_poisoned" });
});
