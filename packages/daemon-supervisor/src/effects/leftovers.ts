import { listCgroups } from "@holdfast/shared-process";
import type { Cgroup } from "@holdfast/shared-process";
import { isWorkerCgroup } from "@holdfast/session-worker/transport";
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
