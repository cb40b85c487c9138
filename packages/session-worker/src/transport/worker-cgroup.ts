import { basename } from "node:path";
import { openCgroup } from "@holdfast/shared-process";
import type { Cgroup } from "@holdfast/shared-process";

/** The home, so that its next daemon knows what is its own, and the generation: it is what proves that a group is that worker's. */
const NAME = /^holdfast-([0-9a-f]{12})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** `homeHash`: twelve hexadecimal digits. */
export const workerCgroupName = (homeHash: string, generation: string): string => `holdfast-${homeHash}-${generation}`;

/** Of any home, or of one. */
export function isWorkerCgroup(name: string, homeHash?: string): boolean {
  const found = NAME.exec(name)?.[1];
  return found !== undefined && (homeHash === undefined || found === homeHash);
}

/** The group that a record names, if it is there and that worker's: a damaged record opens nothing. */
export function openWorkerCgroup({
  cgroupPath,
  generation,
}: {
  readonly cgroupPath: string | null;
  readonly generation: string;
}): Cgroup | null {
  const name = cgroupPath === null ? "" : basename(cgroupPath);
  if (cgroupPath === null || NAME.exec(name)?.[2] !== generation) return null;
  const opened = openCgroup(cgroupPath, name);
  return opened.kind === "opened" ? opened.cgroup : null;
}
