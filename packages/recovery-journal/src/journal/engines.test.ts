import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, assert, beforeEach, describe, expect, it } from "vitest";
import type { FileSystem } from "../file-system.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import type { Journal, JournalEngine } from "../types.ts";
import { openJournal } from "./open.ts";
import { readJournal } from "./read.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-engines-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const kinds = ["prompt"] as const;
const prompt = (operationId: string) => ({ operationId, generation: "g1", kind: "prompt" }) as const;

async function open(engine: JournalEngine, fs: FileSystem): Promise<Journal<"prompt">> {
  const owner = { generation: "g1", identity: {} };
  const opened = await openJournal({
    directory: join(root, "journal"),
    owner,
    kinds,
    engine,
    fs,
    probeOwner: () => "gone",
  });
  assert(opened.kind === "opened");
  return opened.journal;
}

/** The real disk; `flushed` is called when a flush is over, before anyone else learns of it. */
function watched(flushed: (by: JournalEngine) => void): FileSystem {
  return {
    ...nodeFileSystem,
    fdatasync: (fd) => {
      nodeFileSystem.fdatasync(fd);
      flushed("inline");
    },
    fdatasyncAsync: async (fd, by = "pool") => {
      await nodeFileSystem.fdatasyncAsync(fd, by);
      flushed(by);
    },
  };
}

function failFlush(): never {
  throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
}

describe.each(["inline", "pool", "thread"] as const)("the engine %s", (engine) => {
  it("I69 I70 acknowledges in order what it flushed and nothing before", async () => {
    const events: string[] = [];
    const journal = await open(
      engine,
      watched((by) => events.push(by)),
    );
    const begin = async (id: string): Promise<void> => {
      await journal.begin(prompt(id));
      const report = readJournal(join(root, "journal"), kinds);
      events.push(report.kind === "ok" && report.open.some(({ operationId }) => operationId === id) ? id : "missing");
    };
    await Promise.all([begin("a"), begin("b")]);
    const later = begin("c");
    await begin("d");
    await later;
    await journal.close();
    expect(events).toEqual([engine, "a", "b", engine, "c", "d", engine]);
  });

  it("takes what comes during a flush with the next one", async () => {
    const more: Promise<unknown>[] = [];
    let left = 20;
    const journal = await open(
      engine,
      watched(() => {
        if (left <= 0) return;
        for (let count = 0; count < 2; count += 1) more.push(journal.begin(prompt(`p${(left -= 1)}`)));
      }),
    );
    more.push(journal.begin(prompt("first")));
    for (const begun of more) await begun;
    expect(journal.counters()).toMatchObject({ records: 21, flushes: 11 });
    expect(journal.open().map(({ operationId }) => operationId)).toHaveLength(21);
    await journal.close();
  });

  it("is poisoned by a flush that failed, with its errno, and refuses what waited behind it", async () => {
    let broken = false;
    const journal = await open(engine, {
      ...nodeFileSystem,
      fdatasync: (fd) => (broken ? failFlush() : nodeFileSystem.fdatasync(fd)),
      fdatasyncAsync: async (fd, by) => (broken ? failFlush() : nodeFileSystem.fdatasyncAsync(fd, by)),
    });
    await journal.begin(prompt("a"));
    broken = true;
    const results = await Promise.allSettled([journal.begin(prompt("b")), journal.begin(prompt("c"))]);
    broken = false;
    expect(results).toMatchObject([
      { reason: { code: "journal_poisoned", cause: { code: "EIO" } } },
      { reason: { code: "journal_poisoned", cause: { code: "EIO" } } },
    ]);
    await expect(journal.begin(prompt("d"))).rejects.toMatchObject({ code: "journal_poisoned" });
    await journal.close();
    expect((await open(engine, nodeFileSystem)).open()).toContainEqual(expect.objectContaining({ operationId: "a" }));
  });
});
