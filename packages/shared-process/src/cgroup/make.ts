import { dirname, basename } from "node:path/posix";
import { invariant, reasonOf } from "../errors.ts";
import { Cgroup, isGone } from "./cgroup.ts";
import { findPlace } from "./place.ts";
import { type CgroupPorts, systemCgroupPorts } from "./ports.ts";

export type MadeCgroup =
  | { readonly kind: "made"; readonly cgroup: Cgroup }
  | { readonly kind: "unavailable"; readonly reason: string };

export type OpenedCgroup =
  | { readonly kind: "opened"; readonly cgroup: Cgroup }
  | { readonly kind: "gone" }
  | { readonly kind: "unavailable"; readonly reason: string };

/** Of one path element; names of the kernel's own files begin with `cgroup.`. */
const NAME = /^(?!cgroup\.)[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/**
 * Makes a group below the caller's own one, if the kernel has all that is needed and lets us: in most containers it is read-only, and
 * an ordinary user may write only where an administrator or systemd has delegated a subtree. The name must carry something random,
 * such as a generation: it is what tells the group from others when it is opened again. Takes 0.2 ms.
 */
export function makeCgroup(name: string, ports: CgroupPorts = systemCgroupPorts): MadeCgroup {
  invariant(NAME.test(name), "the name of a cgroup is one plain path element");
  const place = findPlace(ports);
  if (place.kind === "unavailable") return place;
  const path = `${place.own}/${name}`;
  try {
    // Whoever moves a process needs to write to both groups and to the one above them.
    ports.checkWritable(`${place.own}/cgroup.procs`);
    ports.makeDirectory(path);
  } catch (error) {
    return { kind: "unavailable", reason: reasonOf(error) };
  }
  const problem = whyUnusable(ports, path);
  const cgroup = new Cgroup(path, ports);
  if (problem === null) return { kind: "made", cgroup };
  const removed = cgroup.remove();
  // Nobody is in it, so the next look for leftovers of the caller's finds and removes it.
  const left = removed.kind === "failed" ? `, and it is left behind: ${removed.reason}` : "";
  return { kind: "unavailable", reason: `${problem}${left}` };
}

/**
 * The group that a record names. Nothing is opened but a cgroup of exactly the name that the caller gave it: a group of somebody
 * else must never be killed by a damaged record.
 */
export function openCgroup(path: string, name: string, ports: CgroupPorts = systemCgroupPorts): OpenedCgroup {
  // Both come from records, which may be damaged.
  const isText = typeof path === "string" && typeof name === "string";
  if (
    !isText ||
    !NAME.test(name) ||
    basename(path) !== name ||
    !path.startsWith("/") ||
    path.split("/").includes("..")
  ) {
    return { kind: "unavailable", reason: `${path} is not a group of the name ${name}` };
  }
  try {
    if (!ports.isCgroup2(path)) return { kind: "unavailable", reason: `${path} is no cgroup v2` };
    // The top of a mount holds everybody.
    if (!ports.isCgroup2(dirname(path))) return { kind: "unavailable", reason: `${path} is no group of its own` };
  } catch (error) {
    return isGone(error) && isTreeVisible(ports, path)
      ? { kind: "gone" }
      : { kind: "unavailable", reason: reasonOf(error) };
  }
  const problem = whyUnusable(ports, path);
  return problem === null
    ? { kind: "opened", cgroup: new Cgroup(path, ports) }
    : { kind: "unavailable", reason: problem };
}

export interface CgroupDirectory {
  /** By default the caller's own group. */
  readonly directory?: string;
  readonly ports?: CgroupPorts;
}

/** Groups of ours in a directory of groups; none where they cannot be seen. */
export function listCgroups(
  isOurs: (name: string) => boolean,
  { directory, ports = systemCgroupPorts }: CgroupDirectory = {},
): readonly Cgroup[] {
  const place = directory === undefined ? findPlace(ports) : null;
  if (place?.kind === "unavailable") return [];
  const parent = place?.own ?? directory ?? "";
  try {
    const names = ports.listDirectories(parent).filter((name) => NAME.test(name) && isOurs(name));
    return names
      .filter((name) => ports.isCgroup2(`${parent}/${name}`))
      .map((name) => new Cgroup(`${parent}/${name}`, ports));
  } catch {
    // Nothing depends on what cannot be listed: it is looked for to be tidied or shown.
    return [];
  }
}

function whyUnusable(ports: CgroupPorts, path: string): string | null {
  try {
    if (!ports.isCgroup2(path)) return `${path} is no cgroup v2`;
    ports.checkWritable(`${path}/cgroup.procs`);
    ports.checkWritable(`${path}/cgroup.kill`);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

/** A path that is missing proves that the group is gone only where its parent can be seen. */
function isTreeVisible(ports: CgroupPorts, path: string): boolean {
  try {
    return ports.isCgroup2(dirname(path));
  } catch {
    // A group's parent cannot be removed before it, unless both are gone: then this is one proof less, and no more.
    return false;
  }
}
