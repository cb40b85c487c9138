import { readdirSync, readFileSync } from "node:fs";
import type { Identity } from "../../e2e/support/processes.ts";

const MIB_IN_KB = 1_024;
const NS_IN_MS = 1e6;

/** Private_Clean + Private_Dirty, in MiB. */
export function privateMemory({ pid }: Identity): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kilobytes = [...text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm)].map(([, size]) => Number(size));
  return kilobytes.reduce((sum, size) => sum + size, 0) / MIB_IN_KB;
}

/**
 * CPU time of all threads in milliseconds, by the scheduler's own count: the ticks of `stat` are 10 ms, too coarse to add up over many
 * processes that do almost nothing.
 */
export function cpuTime({ pid }: Identity): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return times.reduce((sum, time) => sum + time, 0) / NS_IN_MS;
}

export const processCount = (): number => readdirSync("/proc").filter((name) => /^\d+$/.test(name)).length;
