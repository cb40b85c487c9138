import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, assert, beforeEach, expect, it } from "vitest";
import { FlushThread } from "./flush-thread.ts";
import { openJournal } from "./journal/open.ts";
import { nodeFileSystem } from "./node-file-system.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-flush-"));
});
afterEach(() => rmSync(root, { recursive: true }));

it("answers each flush, in order, with the errno of one that failed", async () => {
  const thread = new FlushThread();
  const fd = openSync(join(root, "file"), "w");
  const order: string[] = [];
  const flush = async (name: string, which: number): Promise<void> => {
    await thread.fdatasync(which).finally(() => order.push(name));
  };
  const results = await Promise.allSettled([flush("first", fd), flush("closed", 9_999), flush("last", fd)]);
  closeSync(fd);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(results[1]).toMatchObject({ reason: { code: "EBADF", syscall: "fdatasync", errno: -9 } });
  expect(order).toEqual(["first", "closed", "last"]);
});

it.each([
  ["exits", "process.exit(3)"],
  ["fails", 'require("node:worker_threads").parentPort.on("message", () => { throw new Error("broken"); })'],
  ["cannot start", "this is no program"],
])("rejects what is pending when the thread %s, and starts another for the next flush", async (_, program) => {
  const thread = new FlushThread(program);
  for (let round = 0; round < 2; round += 1) {
    const results = await Promise.allSettled([thread.fdatasync(1), thread.fdatasync(1)]);
    expect(results).toMatchObject([
      { status: "rejected", reason: { code: "flush_thread_ended" } },
      { status: "rejected", reason: { code: "flush_thread_ended" } },
    ]);
  }
});

it("poisons the journal whose flush it did not answer", async () => {
  const thread = new FlushThread("process.exit()");
  const opened = await openJournal({
    directory: join(root, "journal"),
    owner: { generation: "g1", identity: {} },
    kinds: ["prompt"],
    probeOwner: () => "gone",
    engine: "thread",
    fs: { ...nodeFileSystem, fdatasyncAsync: (fd) => thread.fdatasync(fd) },
  });
  assert(opened.kind === "opened");
  const begin = opened.journal.begin({ operationId: "a", generation: "g1", kind: "prompt" });
  await expect(begin).rejects.toMatchObject({ code: "journal_poisoned", cause: { code: "flush_thread_ended" } });
  expect(opened.journal.state).toBe("poisoned");
});
