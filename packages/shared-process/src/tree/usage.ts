import { searchEnvironment } from "../observe/environment.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import { parseStat, type ProcessStat } from "../stat.ts";
import type { Marker } from "../types.ts";

export interface TreeUsage {
  /** Resident memory, shared pages counted once per process. */
  readonly rssBytes: number;
  readonly cpuSeconds: number;
  /** Since the start of the root process. */
  readonly ageSeconds: number;
}

export type Stats = ReadonlyMap<number, ProcessStat>;

const PAGE_BYTES = 4096;
const TICKS_PER_SECOND = 100;

/**
 * Sums over a process, its descendants, and what carries the marker. For display only: a number read here authorises
 * nothing (I89).
 */
export function treeUsage(pid: number, marker?: Marker, ports: ProcessPorts = systemPorts): TreeUsage | null {
  const stats = readStats(ports);
  const carries = (other: number): boolean =>
    marker !== undefined && searchEnvironment(ports, other, marker) === "found";
  return sumUsage(stats, pid, { carries, uptimeSeconds: uptimeSeconds(ports) });
}

interface SumOptions {
  /** Members of the tree that are not descendants. */
  readonly carries: (pid: number) => boolean;
  readonly uptimeSeconds: number;
}

export function sumUsage(stats: Stats, pid: number, { carries, uptimeSeconds: uptime }: SumOptions): TreeUsage | null {
  const root = stats.get(pid);
  if (root === undefined || !Number.isFinite(uptime)) return null;
  const members = descendants(stats, pid);
  for (const other of stats.keys()) if (!members.has(other) && carries(other)) members.add(other);
  let ticks = 0;
  let pages = 0;
  for (const member of members) {
    const stat = stats.get(member);
    ticks += (stat?.userTicks ?? 0) + (stat?.systemTicks ?? 0);
    pages += stat?.residentPages ?? 0;
  }
  const ageSeconds = Math.max(0, uptime - Number(root.startTicks) / TICKS_PER_SECOND);
  return { rssBytes: pages * PAGE_BYTES, cpuSeconds: ticks / TICKS_PER_SECOND, ageSeconds };
}

/** `NaN` where it cannot be read. */
export const uptimeSeconds = (ports: ProcessPorts): number =>
  Number(attempt(() => ports.readFile("/proc/uptime"))?.split(" ")[0]);

function readStats(ports: ProcessPorts): Map<number, ProcessStat> {
  const stats = new Map<number, ProcessStat>();
  for (const name of attempt(() => ports.listDirectory("/proc")) ?? []) {
    if (!/^\d+$/.test(name)) continue;
    const text = attempt(() => ports.readFile(`/proc/${name}/stat`));
    const parsed = text === null ? null : parseStat(text);
    if (parsed?.kind === "parsed") stats.set(parsed.stat.pid, parsed.stat);
  }
  return stats;
}

function descendants(stats: Stats, root: number): Set<number> {
  const members = new Set([root]);
  // A set hands out what is added while it is walked, so this reaches all generations.
  for (const parent of members) {
    for (const stat of stats.values()) if (stat.ppid === parent) members.add(stat.pid);
  }
  return members;
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    // A process that ended, or is hidden, adds nothing to a sum that is only shown.
    return null;
  }
}
