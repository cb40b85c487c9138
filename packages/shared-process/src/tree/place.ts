import { readlinkSync, statSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { dirname } from "node:path";
import type { OpenPath } from "./open-paths.ts";

/** Where a file lies that a process has open. `unknown`: nothing tells whether it is, or was, the one of that name here. */
export type Place = "here" | "elsewhere" | "unknown";

const DELETED = " (deleted)";

/**
 * Whether what a process has open is the file that has that name here. A process in another mount namespace, or from before something was
 * mounted over the path, may hold another one of the same name.
 */
export function placeOf(pid: number, { fd, path }: OpenPath): Place {
  const link = `/proc/${pid}/fd/${fd}`;
  try {
    // Through the link to the file itself, whatever its name leads to here.
    const held = statSync(link, { bigint: true });
    const place = path.endsWith(DELETED)
      ? placeOfDeleted(pid, held, path.slice(0, -DELETED.length))
      : placeOfNamed(held, path);
    // Only if the descriptor is still of the file that was named.
    return readlinkSync(link) === path ? place : "unknown";
  } catch {
    // It has ended, or nobody may look.
    return "unknown";
  }
}

function placeOfNamed(held: BigIntStats, path: string): Place {
  const named = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (named === undefined) return "unknown";
  return named.ino === held.ino && named.dev === held.dev ? "here" : "elsewhere";
}

/** No name is left to compare. In the same mount namespace it was one here, unless another file system has been mounted over it since. */
function placeOfDeleted(pid: number, held: BigIntStats, name: string): Place {
  if (!sharesMounts(pid)) return "unknown";
  const folder = statSync(dirname(name), { bigint: true, throwIfNoEntry: false });
  return folder === undefined || folder.dev === held.dev ? "here" : "unknown";
}

/** Whether a process is in this one's mount namespace, where a path leads to the same file. False where that cannot be told. */
export function sharesMounts(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`) === readlinkSync("/proc/self/ns/mnt");
  } catch {
    return false;
  }
}
