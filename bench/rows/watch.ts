import { setTimeout as sleep } from "node:timers/promises";
import type { Bench, Benchmark } from "../support/bench.ts";
import { alternating, median } from "../support/measure.ts";
import { startPopulation } from "../support/population.ts";
import { Watcher } from "../support/watcher.ts";

const WATCHED = 300;
const CPU = `watching ${WATCHED} processes, CPU`;
const CPU_NARROW = `watching ${WATCHED} processes, CPU, narrow mode`;
const NOTICE = `exit noticed, ${WATCHED} watched`;
const NOTICE_NARROW = `exit noticed, ${WATCHED} watched, narrow mode`;
/** V8 tidies up several times in the first half minute after a program's last work. */
const SETTLED_MS = 40_000;
const SECOND_MS = 1_000;

export const watchBenchmark: Benchmark = {
  names: [CPU, CPU_NARROW, NOTICE, NOTICE_NARROW],
  run: async (bench) => {
    if (bench.wants(CPU, CPU_NARROW)) await cpu(bench);
    if (bench.wants(NOTICE)) await notices(bench);
    if (bench.wants(NOTICE_NARROW)) await narrowNotices(bench);
  },
};

/** All at the same time: nothing happens, so they do not disturb each other, and each has its own count. */
async function cpu(bench: Bench): Promise<void> {
  await using population = await startPopulation(WATCHED);
  const { pids } = population;
  await using none = await Watcher.start({ pids: [], by: "library" });
  await using strong = await Watcher.start({ pids, by: "library" });
  await using narrow = await Watcher.start({ pids, by: "narrow" });
  const watchers = [none, strong, narrow];
  const usage = bench.quick ? await hastyUsage(watchers) : await settledUsage(watchers);
  const [floor = Number.NaN, value = Number.NaN, narrowValue = Number.NaN] = usage;
  const note = bench.quick
    ? "median of five seconds, while V8 still tidies up after the start"
    : "floor: the same program with nothing to watch";
  bench.report({ name: CPU, unit: "%", value, floor, target: { of: "value", atMost: 0.05 }, note });
  bench.report({ name: CPU_NARROW, unit: "%", value: narrowValue, floor, note });
}

async function settledUsage(watchers: readonly Watcher[]): Promise<readonly number[]> {
  await sleep(SETTLED_MS);
  return await usageDuring(30 * SECOND_MS, watchers);
}

async function hastyUsage(watchers: readonly Watcher[]): Promise<readonly number[]> {
  const seconds: (readonly number[])[] = [];
  while (seconds.length < 5) seconds.push(await usageDuring(SECOND_MS, watchers));
  return watchers.map((_, index) => median(seconds.map((second) => second[index] ?? Number.NaN)));
}

/** Of each, in % of one core. */
async function usageDuring(durationMs: number, watchers: readonly Watcher[]): Promise<readonly number[]> {
  const from = performance.now();
  const before = watchers.map((watcher) => watcher.cpuTime());
  await sleep(durationMs);
  const elapsedMs = performance.now() - from;
  return watchers.map((watcher, index) => (100 * (watcher.cpuTime() - (before[index] ?? Number.NaN))) / elapsedMs);
}

async function notices(bench: Bench): Promise<void> {
  const rounds = noticesOf(bench);
  await using population = await startPopulation(WATCHED + 2 * rounds);
  const polled = population.pids.slice(0, rounds);
  const watched = population.pids.slice(rounds);
  await using poll = await Watcher.start({ pids: polled, by: "poll" });
  await using watcher = await Watcher.start({ pids: watched, by: "library" });
  const measured = await alternating({
    rounds,
    floor: (round) => poll.noticeOf(at(polled, round)),
    subject: (round) => watcher.noticeOf(at(watched, round)),
  });
  const note = "floor: a program that stands still in poll(2) on that one process";
  bench.report({ name: NOTICE, unit: "ms", ...measured, target: { of: "value", atMost: 1 }, note });
}

async function narrowNotices(bench: Bench): Promise<void> {
  const rounds = noticesOf(bench);
  await using population = await startPopulation(WATCHED + rounds);
  const { pids } = population;
  await using watcher = await Watcher.start({ pids, by: "narrow" });
  const times: number[] = [];
  for (const pid of pids.slice(0, rounds)) times.push(await watcher.noticeOf(pid));
  bench.report({ name: NOTICE_NARROW, unit: "ms", value: median(times) });
}

/** Ends whose median is taken. Of so many processes more are watched than the row says, so that never fewer are. */
const noticesOf = (bench: Bench): number => (bench.quick ? 20 : 100);

function at(pids: readonly number[], round: number): number {
  const pid = pids[round];
  if (pid === undefined) throw new Error(`there is no process for round ${round}`);
  return pid;
}
