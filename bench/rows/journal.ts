import * as fs from "node:fs";
import { join } from "node:path";
import type { FileSystem, Journal } from "../../packages/recovery-journal/src/index.ts";
import { loadJournal } from "../support/built.ts";
import type { Bench, Benchmark } from "../support/bench.ts";
import { Home } from "../support/home.ts";
import { alternating } from "../support/measure.ts";

const ALONE = "durable append, one at a time";
const TOGETHER = "durable appends, 64 at once";
const SYNCS = "syncs of 64 at once, with those of new segments";

const BATCH = 64;
/** In one round. */
const BATCHES = 32;
const ALONE_APPENDS = 512;
/** Before the first round, so that no round measures the compiler. */
const WARM_APPENDS = 4_096;
const FILE_BYTES = 1 << 20;
const MS_PER_S = 1_000;

/** What the journal asked of the disk. */
interface Seen {
  opens: number;
  closes: number;
  chmods: number;
  syncs: number;
  /** Of the last write, and of the last one that was synced: a mark follows each record unsynced. */
  writtenBytes: number;
  recordBytes: number;
}

const journalBenchmark: Benchmark = {
  names: [ALONE, TOGETHER, SYNCS],
  run: async (bench) => {
    await using home = new Home();
    const { openJournal, nodeFileSystem } = await loadJournal();
    const seen: Seen = { opens: 0, closes: 0, chmods: 0, syncs: 0, writtenBytes: 0, recordBytes: 0 };
    const opened = await openJournal({
      directory: join(home.root, "journal"),
      owner: { generation: crypto.randomUUID(), identity: {} },
      kinds: ["prompt"],
      probeOwner: () => "gone",
      fs: watched(nodeFileSystem, seen),
    });
    if (opened.kind !== "opened") throw new Error(`the journal is ${opened.kind}`);
    const { journal } = opened;
    using file = new FloorFile(join(home.root, "floor"));
    for (let done = 0; done < WARM_APPENDS; done += 2) await append(journal, 1);
    if (bench.wants(ALONE)) await alone(bench, { journal, file, seen });
    if (bench.wants(TOGETHER, SYNCS)) await together(bench, { journal, file, seen });
    await journal.close();
  },
};

interface Parts {
  readonly journal: Journal<"prompt">;
  readonly file: FloorFile;
  readonly seen: Seen;
}

async function alone(bench: Bench, { journal, file, seen }: Parts): Promise<void> {
  const before = { ...seen };
  const { value, floor } = await alternating({
    rounds: bench.rounds,
    floor: () => rate(ALONE_APPENDS, () => file.append(ALONE_APPENDS, seen.recordBytes)),
    subject: () =>
      rate(ALONE_APPENDS, async () => {
        for (let done = 0; done < ALONE_APPENDS; done += 2) await append(journal, 1);
      }),
  });
  const appends = bench.rounds * ALONE_APPENDS;
  const calls = (["opens", "closes", "chmods", "syncs"] as const).map((call) => `${seen[call] - before[call]} ${call}`);
  bench.report({
    name: ALONE,
    unit: "per s",
    value,
    floor,
    target: { of: "ratio", atLeast: 0.95 },
    note: `floor: write and fdatasync of the same bytes; for ${appends} appends: ${calls.join(", ")} (new segments among them)`,
  });
}

async function together(bench: Bench, { journal, file, seen }: Parts): Promise<void> {
  const { recordBytes } = seen;
  for (let batch = 0; batch < BATCHES; batch += 2) await append(journal, BATCH);
  const [counted, before] = [journal.counters(), { ...seen }];
  const { value, floor } = await alternating({
    rounds: bench.rounds,
    floor: () => rate(ALONE_APPENDS, () => file.append(ALONE_APPENDS, recordBytes)),
    subject: () =>
      rate(BATCHES * BATCH, async () => {
        for (let batch = 0; batch < BATCHES; batch += 2) await append(journal, BATCH);
      }),
  });
  const { records, flushes, compactions } = journal.counters();
  const appended = records - counted.records;
  bench.report({
    name: TOGETHER,
    unit: "per s",
    value,
    floor,
    target: { of: "ratio", atLeast: 18 },
    note: "floor: write and fdatasync for each record",
  });
  bench.report({
    name: SYNCS,
    unit: "per record",
    value: (seen.syncs - before.syncs) / appended,
    target: { of: "value", atMost: 0.02 },
    note: `${appended} records: ${flushes - counted.flushes} flushes, ${compactions - counted.compactions} new segments`,
  });
}

/** Begins so many operations in one turn and, when they are durable, ends them in one turn: two appends each. */
async function append(journal: Journal<"prompt">, count: number): Promise<void> {
  const requests = Array.from({ length: count }, () => ({
    operationId: crypto.randomUUID(),
    generation: "00000000-0000-4000-8000-000000000000",
    kind: "prompt" as const,
  }));
  const tokens = await Promise.all(requests.map((request) => journal.begin(request)));
  await Promise.all(tokens.map((token) => journal.end(token, { kind: "completed" })));
}

async function rate(count: number, run: () => Promise<void> | void): Promise<number> {
  const from = performance.now();
  await run();
  return (count * MS_PER_S) / (performance.now() - from);
}

/** What the disk itself takes: the bytes are allocated, so that a sync writes data alone, as in a journal's segment. */
class FloorFile implements Disposable {
  readonly #fd: number;
  #position = 0;

  constructor(path: string) {
    this.#fd = fs.openSync(path, "w");
    fs.writeSync(this.#fd, Buffer.alloc(FILE_BYTES, "\n"));
    fs.fsyncSync(this.#fd);
  }

  append(count: number, bytes: number): void {
    const line = Buffer.alloc(bytes, "x");
    for (let done = 0; done < count; done += 1) {
      if (this.#position + bytes > FILE_BYTES) this.#position = 0;
      fs.writeSync(this.#fd, line, 0, bytes, this.#position);
      fs.fdatasyncSync(this.#fd);
      this.#position += bytes;
    }
  }

  [Symbol.dispose](): void {
    fs.closeSync(this.#fd);
  }
}

/** The real disk, counted. */
function watched(real: FileSystem, seen: Seen): FileSystem {
  return {
    ...real,
    open: (path, flags, mode) => {
      seen.opens += 1;
      return real.open(path, flags, mode);
    },
    close: (fd) => {
      seen.closes += 1;
      real.close(fd);
    },
    fchmod: (fd, mode) => {
      seen.chmods += 1;
      real.fchmod(fd, mode);
    },
    fdatasync: (fd) => {
      seen.syncs += 1;
      seen.recordBytes = seen.writtenBytes;
      real.fdatasync(fd);
    },
    fsync: (fd) => {
      seen.syncs += 1;
      real.fsync(fd);
    },
    write: (fd, buffer, offset, length, position) => {
      seen.writtenBytes = length;
      return real.write(fd, buffer, offset, length, position);
    },
  };
}

export const journalBenchmarks: readonly Benchmark[] = [journalBenchmark];
