import { reasonOf } from "../errors.ts";
import type { CgroupPorts } from "./ports.ts";

/** Where this process is in the tree of cgroups v2. */
export type Place =
  | {
      readonly kind: "found";
      /** Directory of its own group. */
      readonly own: string;
      /** Directory of the highest group that can be seen from here. */
      readonly top: string;
    }
  | { readonly kind: "unavailable"; readonly reason: string };

const unavailable = (reason: string): Place => ({ kind: "unavailable", reason });

/**
 * By /proc/self/mountinfo and /proc/self/cgroup (cgroups(7)): a pure v2 system mounts it at /sys/fs/cgroup, a hybrid one at
 * /sys/fs/cgroup/unified, a container wherever it likes.
 */
export function findPlace(ports: CgroupPorts): Place {
  let mounts: readonly Mount[];
  let own: string | undefined;
  try {
    mounts = mountsIn(ports.readFile("/proc/self/mountinfo"));
    own = /^0::(\/.*)$/m.exec(ports.readFile("/proc/self/cgroup"))?.[1];
  } catch (error) {
    return unavailable(reasonOf(error));
  }
  if (own === undefined) return unavailable("this process is in no cgroup v2");
  for (const { root, at } of mounts) {
    const below = pathBelow(root, own);
    if (below !== null) return { kind: "found", own: `${at}${below}`, top: at };
  }
  return unavailable(
    mounts.length === 0 ? "cgroup v2 is not mounted" : `the cgroup ${own} is not to be seen from here`,
  );
}

interface Mount {
  /** The group that is the mount's top directory. */
  readonly root: string;
  readonly at: string;
}

/** `37 30 0:34 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw`, with any number of fields before the `-`. */
function mountsIn(mountinfo: string): Mount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root, at] = before.split(" ");
    const isCgroup2 = after.startsWith("cgroup2 ");
    return isCgroup2 && root !== undefined && at !== undefined ? [{ root: unescaped(root), at: unescaped(at) }] : [];
  });
}

/** Blanks, tabs, newlines and backslashes stand as three octal digits. */
const unescaped = (path: string): string =>
  path.replaceAll(/\\([0-7]{3})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** `null`: not below. A path with `..` leads out of this process's cgroup namespace. */
function pathBelow(root: string, path: string): string | null {
  if (path.split("/").includes("..")) return null;
  const base = root === "/" ? "" : root;
  if (path === root) return "";
  return path.startsWith(`${base}/`) ? path.slice(base.length) : null;
}
