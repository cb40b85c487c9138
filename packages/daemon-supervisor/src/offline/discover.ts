import { realpathSync } from "node:fs";
import { isAbsolute } from "node:path";
import { scanEnvironments } from "@holdfast/shared-process";
import type { EnvironmentScan, FoundProcess } from "@holdfast/shared-process";
import { SUPERVISOR_TITLE, homesHeldBy } from "@holdfast/session-worker/transport";
import { GENERATION_NAME, HOME_NAME, MARKER_NAME } from "../names.ts";
import { heldByWorker, isWorker } from "../worker-process.ts";

export function scanHoldfast(): EnvironmentScan {
  const scan = scanEnvironments({ names: [HOME_NAME, GENERATION_NAME, MARKER_NAME], commands: [SUPERVISOR_TITLE] });
  return { ...scan, processes: scan.processes.map(whereItIs) };
}

/** A worker's environment names its home as it was at the start; that may have been moved since, and another one be in its place. */
function whereItIs(found: FoundProcess): FoundProcess {
  if (!isWorker(found)) return found;
  const { home } = heldByWorker(found);
  return home === null || canonical(found.values[HOME_NAME] ?? "") === home
    ? found
    : { ...found, values: { ...found.values, [HOME_NAME]: home } };
}

export interface DiscoveredHome {
  readonly home: string;
  /** Supervisors that hold a lifeline in it. */
  readonly holders: readonly FoundProcess[];
}

/** Two spellings of one directory are one home. */
export function canonical(home: string): string {
  try {
    return realpathSync(home);
  } catch {
    // Not there, or not to be seen: what remains of it goes by the name that was used.
    return home;
  }
}

/**
 * `first`, and the homes of running supervisors and workers. A process only names a home here; whether it counts there is the
 * word of that home's records.
 */
export function discoverHomes(first: string, scan: EnvironmentScan): DiscoveredHome[] {
  const homes = new Map([[canonical(first), { home: first, holders: [] as FoundProcess[] }]]);
  const add = (home: string): { holders: FoundProcess[] } => {
    const key = canonical(home);
    const known = homes.get(key) ?? { home, holders: [] };
    homes.set(key, known);
    return known;
  };
  for (const found of scan.processes) {
    const home = found.values[HOME_NAME];
    const isSupervisor = found.command === SUPERVISOR_TITLE;
    const held = isSupervisor ? homesHeldBy(found.identity.pid).lifelines : [];
    for (const path of held) add(home !== undefined && canonical(home) === path ? home : path).holders.push(found);
    // Started in the foreground, a supervisor may have another home in its environment than the one it serves.
    const isLaunched = found.values[GENERATION_NAME] !== undefined;
    if (home !== undefined && isAbsolute(home) && (isLaunched || (isSupervisor && held.length === 0))) add(home);
  }
  return [...homes.values()].map(({ home, holders }) => {
    const pids = new Set(holders.map(({ identity }) => identity.pid));
    // What a supervisor has just forked is its image until it runs the program that it is for.
    const isForked = ({ identity }: FoundProcess): boolean =>
      scan.ancestorsOf(identity.pid).some((pid) => pids.has(pid));
    return { home, holders: holders.filter((found) => !isForked(found)) };
  });
}
