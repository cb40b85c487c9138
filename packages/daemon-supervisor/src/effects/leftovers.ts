import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { listCgroups } from "@holdfast/shared-process";
import type { Cgroup, CgroupPorts, TreeProcess, TreeReport } from "@holdfast/shared-process";
import { isWorkerCgroup } from "@holdfast/session-worker/transport";
import type { RetainedProcess } from "@holdfast/session-worker/transport";
import { homeHash, runFolder } from "../home.ts";

/**
 * One directory of groups a line. A later supervisor, or a command, may itself run in another group, and would look beside that one. It
 * lies with what a restart of the machine ends, as it does the groups.
 */
const directoriesFile = (home: string): string => `${runFolder(home)}/cgroups`;

function knownDirectories(home: string): readonly string[] {
  try {
    return readFileSync(directoriesFile(home), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("/"));
  } catch {
    // No group was made, or nothing can be read: then only those beside the caller are found.
    return [];
  }
}

/** To be called in the turn in which a group is made. Throws system errors. */
export function noteCgroupDirectory(home: string, directory: string): void {
  if (knownDirectories(home).includes(directory)) return;
  appendFileSync(directoriesFile(home), `${directory}\n`, { mode: 0o600 });
}

interface LookOptions {
  /** To look in as well. */
  readonly directory?: string;
  readonly ports?: CgroupPorts;
}

/** The cgroups of a home's workers, where its supervisors have made them and where one here would make the next. */
export function workerCgroups(home: string, { directory, ports }: LookOptions = {}): readonly Cgroup[] {
  const hash = homeHash(home);
  const isOurs = (name: string): boolean => isWorkerCgroup(name, hash);
  const common = ports === undefined ? {} : { ports };
  const directories = new Set([...knownDirectories(home), ...(directory === undefined ? [] : [directory])]);
  const found = [{}, ...[...directories].map((one) => ({ directory: one }))].flatMap((where) =>
    listCgroups(isOurs, { ...common, ...where }),
  );
  return [...new Map(found.map((cgroup) => [cgroup.path, cgroup])).values()];
}

/**
 * Removes those in which nobody is any more: of kept programs that have ended since, and of launches that a crash cut off. Only for
 * the owner of the home, whose own launches make and fill a group in one turn.
 */
export function removeLeftoverCgroups(home: string, options: LookOptions = {}): void {
  const removals = workerCgroups(home, options).map((cgroup) => cgroup.remove());
  if (removals.every(({ kind }) => kind === "removed")) rmSync(directoriesFile(home), { force: true });
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
