import type { Bench, Benchmark } from "../support/bench.ts";
import { allocatedFile, type DurableStore, growingFile, reopenedFile } from "../support/durable-files.ts";
import { Home } from "../support/home.ts";
import { appendPairs, ENGINES, type OpenedJournal, openForBench } from "../support/journals.ts";
import { median } from "../support/measure.ts";
import { sqliteTable } from "../support/sqlite.ts";

const TOGETHER = [1, 8, 64] as const;
type Together = (typeof TOGETHER)[number];
type Engine = (typeof ENGINES)[number];

const SYNCS = "syncs of 64 at once, with those of new segments";
const CALLS = "calls of one batch";

/** Before the first round, so that no round measures the compiler or the first small segments. */
const WARM_APPENDS = 16_384;
const WARM_TOGETHER = 16;
/**
 * Of one contestant, until it is the next one's turn: some milliseconds, so that a slow moment of the disk meets all of
 * them.
 */
const SLICE_BATCHES = 32;
const SLICES_IN_ROUND = 4;
const CALLS_BATCHES = 32;
const MS_PER_S = 1_000;

/** What each engine is to reach, as a multiple of the opponent's rate. */
const opponents = {
  // None for one at a time: the target of the design is measured against a file that grows.
  allocated: { says: "", inline: { 1: null, 8: null, 64: 18 } },
  growing: {
    says: "to a growing file",
    inline: { 1: 0.95, 8: 7, 64: 25 },
    pool: { 1: 0.75, 8: 5, 64: 20 },
    thread: { 1: 0.6, 8: 4.5, 64: 18 },
  },
  reopened: { says: "to open, fsync, close, chmod each", inline: { 1: 1.1, 8: 7, 64: 25 } },
  sqlite: { says: "to SQLite, WAL, FULL", inline: { 1: 1.05, 8: 6, 64: 22 } },
} as const;
type Opponent = keyof typeof opponents;

type Target = Readonly<Record<Together, number | null>>;
const targetsOf = (opponent: Opponent): readonly (readonly [Engine, Target])[] =>
  ENGINES.flatMap((engine) => {
    const targets: Partial<Record<Engine, Target>> = opponents[opponent];
    const target = targets[engine];
    return target === undefined ? [] : [[engine, target] as const];
  });

const opponentNames = ["allocated", "growing", "reopened", "sqlite"] as const satisfies readonly Opponent[];

function nameOf(together: Together, opponent: Opponent, engine: Engine): string {
  const what = together === 1 ? "durable append, one at a time" : `durable appends, ${together} at once`;
  const { says } = opponents[opponent];
  return [what, ...(engine === "inline" ? [] : [engine]), ...(says === "" ? [] : [says])].join(", ");
}

const namesOf = (together: Together): readonly string[] =>
  opponentNames.flatMap((opponent) => targetsOf(opponent).map(([engine]) => nameOf(together, opponent, engine)));

const throughput: Benchmark = {
  names: [...TOGETHER.flatMap(namesOf), SYNCS, CALLS],
  run: async (bench) => {
    await using home = new Home();
    const journals = {
      inline: await openWarm(home.root, "inline"),
      pool: await openWarm(home.root, "pool"),
      thread: await openWarm(home.root, "thread"),
    };
    const stores = openStores(home.root, journals.inline.recordBytes());
    try {
      if (bench.wants(CALLS)) await countCalls(bench, journals.inline);
      for (const together of TOGETHER) {
        const names = [...namesOf(together), ...(together === 64 ? [SYNCS] : [])];
        if (bench.wants(...names)) await race(bench, { together, journals, stores });
      }
      for (const { journal } of Object.values(journals)) await journal.close();
    } finally {
      for (const store of Object.values(stores)) store?.[Symbol.dispose]();
    }
  },
};

type Stores = Readonly<Record<Opponent, DurableStore | null>>;

function openStores(root: string, bytes: number): Stores {
  return {
    allocated: allocatedFile(root, bytes),
    growing: growingFile(root, bytes),
    reopened: reopenedFile(root, bytes),
    sqlite: sqliteTable(root, bytes),
  };
}

async function openWarm(root: string, engine: Engine): Promise<OpenedJournal> {
  const opened = await openForBench(root, engine);
  for (let done = 0; done < WARM_APPENDS; done += 2 * WARM_TOGETHER) await appendPairs(opened.journal, WARM_TOGETHER);
  for (let done = 0; done < WARM_APPENDS / WARM_TOGETHER; done += 2) await appendPairs(opened.journal, 1);
  return opened;
}

interface Race {
  readonly together: Together;
  readonly journals: Readonly<Record<Engine, OpenedJournal>>;
  readonly stores: Stores;
}

/** All of them in turn, slice by slice; reports the medians. */
async function race(bench: Bench, { together, journals, stores }: Race): Promise<void> {
  const rates = new Map<Engine | Opponent, number[]>();
  const counted = journals.inline.journal.counters();
  const syncsBefore = syncsOf(journals.inline);
  for (let slice = 0; slice < bench.rounds * SLICES_IN_ROUND; slice += 1) {
    for (const engine of ENGINES) {
      const pairs = async (): Promise<void> => {
        for (let done = 0; done < SLICE_BATCHES; done += 2) await appendPairs(journals[engine].journal, together);
      };
      collect(rates, engine, await rate(SLICE_BATCHES * together, pairs));
    }
    for (const opponent of opponentNames) {
      const store = stores[opponent];
      if (store === null) continue;
      const appends = (): void => {
        for (let done = 0; done < SLICE_BATCHES; done += 1) store.append();
      };
      collect(rates, opponent, await rate(SLICE_BATCHES, appends));
    }
  }
  for (const opponent of opponentNames) reportAgainst(bench, { opponent, together, rates });
  if (together !== 64) return;
  const { records, flushes, compactions } = journals.inline.journal.counters();
  const appended = records - counted.records;
  bench.report({
    name: SYNCS,
    unit: "per record",
    value: (syncsOf(journals.inline) - syncsBefore) / appended,
    target: { of: "value", atMost: 0.02 },
    note: `${appended} records: ${flushes - counted.flushes} flushes, ${compactions - counted.compactions} new segments`,
  });
}

const syncsOf = ({ calls }: OpenedJournal): number => calls.fdatasync + calls.fsync;

function reportAgainst(
  bench: Bench,
  run: { opponent: Opponent; together: Together; rates: ReadonlyMap<Engine | Opponent, readonly number[]> },
): void {
  const { opponent, together, rates } = run;
  const floors = rates.get(opponent);
  if (floors === undefined) bench.say(`  not compared ${opponents[opponent].says}: it could not be opened`);
  for (const [engine, targets] of floors === undefined ? [] : targetsOf(opponent)) {
    const atLeast = targets[together];
    bench.report({
      name: nameOf(together, opponent, engine),
      unit: "per s",
      value: median(rates.get(engine) ?? []),
      floor: median(floors ?? []),
      ...(atLeast === null ? {} : { target: { of: "ratio", atLeast } }),
      ...(opponent === "allocated" ? { note: "floor: write and fdatasync of each record into allocated bytes" } : {}),
    });
  }
}

function collect(rates: Map<Engine | Opponent, number[]>, of: Engine | Opponent, value: number): void {
  rates.set(of, [...(rates.get(of) ?? []), value]);
}

async function rate(count: number, run: () => Promise<void> | void): Promise<number> {
  const from = performance.now();
  await run();
  return (count * MS_PER_S) / (performance.now() - from);
}

/** Exact, and the same on every disk: what the file system is asked for one batch, where no new segment comes between. */
async function countCalls(bench: Bench, { journal, calls }: OpenedJournal): Promise<void> {
  let before = { ...calls };
  for (let segments = -1; segments !== journal.counters().compactions;) {
    segments = journal.counters().compactions;
    before = { ...calls };
    for (let done = 0; done < CALLS_BATCHES; done += 2) await appendPairs(journal, 8);
  }
  const each = Object.entries(calls).map(([call, count]) => [
    call,
    (count - Reflect.get(before, call)) / CALLS_BATCHES,
  ]);
  bench.report({
    name: CALLS,
    unit: "calls",
    value: each.reduce((sum, [, count]) => sum + Number(count), 0),
    target: { of: "value", atMost: 4 },
    note: each.map(([call, count]) => `${count} ${call}`).join(", "),
  });
}

export const journalBenchmarks: readonly Benchmark[] = [throughput];
