import { join } from "node:path";
import type { FileSystem, Journal, JournalEngine } from "../../packages/recovery-journal/src/index.ts";
import { loadJournal } from "./built.ts";

export const ENGINES = ["inline", "pool", "thread"] as const satisfies readonly JournalEngine[];

/** What a journal asked of the disk. */
export type Calls = Record<
  "open" | "close" | "fchmod" | "chmod" | "write" | "fdatasync" | "fsync" | "exists" | "hasName",
  number
>;

export interface OpenedJournal {
  readonly journal: Journal<"prompt">;
  readonly calls: Calls;
  /** Of the last write that was synced. */
  readonly recordBytes: () => number;
}

export async function openForBench(root: string, engine: JournalEngine): Promise<OpenedJournal> {
  const { openJournal, nodeFileSystem } = await loadJournal();
  const calls: Calls = {
    open: 0,
    close: 0,
    fchmod: 0,
    chmod: 0,
    write: 0,
    fdatasync: 0,
    fsync: 0,
    exists: 0,
    hasName: 0,
  };
  const seen = { writtenBytes: 0, recordBytes: 0 };
  const opened = await openJournal({
    directory: join(root, `journal-${engine}`),
    owner: { generation: crypto.randomUUID(), identity: {} },
    kinds: ["prompt"],
    probeOwner: () => "gone",
    engine,
    fs: counted(nodeFileSystem, calls, seen),
  });
  if (opened.kind !== "opened") throw new Error(`the journal is ${opened.kind}`);
  return { journal: opened.journal, calls, recordBytes: () => seen.recordBytes };
}

/** Begins so many operations in one turn and, when they are durable, ends them in one turn: two appends each. */
export async function appendPairs(journal: Journal<"prompt">, together: number): Promise<void> {
  const requests = Array.from({ length: together }, () => ({
    operationId: crypto.randomUUID(),
    generation: "00000000-0000-4000-8000-000000000000",
    kind: "prompt" as const,
  }));
  const tokens = await Promise.all(requests.map((request) => journal.begin(request)));
  await Promise.all(tokens.map((token) => journal.end(token, { kind: "completed" })));
}

/** The real disk, counted. */
function counted(real: FileSystem, calls: Calls, seen: { writtenBytes: number; recordBytes: number }): FileSystem {
  const synced = (call: "fdatasync" | "fsync"): void => {
    calls[call] += 1;
    seen.recordBytes = seen.writtenBytes;
  };
  return {
    ...real,
    open: (...args) => ((calls.open += 1), real.open(...args)),
    close: (...args) => ((calls.close += 1), real.close(...args)),
    fchmod: (...args) => ((calls.fchmod += 1), real.fchmod(...args)),
    chmod: (...args) => ((calls.chmod += 1), real.chmod(...args)),
    exists: (...args) => ((calls.exists += 1), real.exists(...args)),
    hasName: (...args) => ((calls.hasName += 1), real.hasName(...args)),
    fdatasync: (...args) => (synced("fdatasync"), real.fdatasync(...args)),
    fdatasyncAsync: (...args) => (synced("fdatasync"), real.fdatasyncAsync(...args)),
    fsync: (...args) => ((calls.fsync += 1), real.fsync(...args)),
    write: (...args) => {
      calls.write += 1;
      seen.writtenBytes = args[3];
      return real.write(...args);
    },
  };
}
