import { listCgroups } from "@holdfast/shared-process";
import type { Cgroup, TreeProcess, TreeReport } from "@holdfast/shared-process";
import { isWorkerCgroup } from "@holdfast/session-worker/transport";
import type { RetainedProcess } from "@holdfast/session-worker/transport";
import { homeHash } from "../home.ts";

/** The cgroups of a home's workers in a directory of groups, by default where a supervisor here would make the next one. */
export function workerCgroups(home: string, directory?: string): readonly Cgroup[] {
  const hash = homeHash(home);
  const isOurs = (name: string): boolean => isWorkerCgroup(name, hash);
  return listCgroups(isOurs, directory === undefined ? {} : { directory });
}

/**
 * Removes those in which nobody is any more: of kept programs that have ended since, and of launches that a crash cut off. Only for
 * the owner of the home, whose own launches make and fill a group in one turn.
 */
export function removeLeftoverCgroups(home: string, directory?: string): void {
  for (const cgroup of workerCgroups(home, directory)) cgroup.remove();
}

/** What the end of a session's tree left. Nothing proved the unproven ones, so that a later end needs the marker in their environment. */
export function leftBy({ kept, remaining, unproven }: TreeReport, marker: string): readonly RetainedProcess[] {
  const proven = ({ identity, command, evidence }: TreeProcess) => ({
    identity,
    command,
    marker,
    marked: evidence === "marker",
  });
  return [
    ...kept.map((found) => ({ ...proven(found), kept: true })),
    ...remaining.map((found) => ({ ...proven(found), kept: false })),
    ...unproven.processes.map(({ identity, command }) => ({ identity, command, marker, marked: true, kept: false })),
  ];
}
