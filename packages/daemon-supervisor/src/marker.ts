import { dirname } from "node:path";
import { createMarkerFile, isDiskFull, syncDirectory } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { errnoOf } from "@holdfast/shared-process";

/**
 * One that is there, by an earlier try or a predecessor, is as good once its name is synced. Where no inode is left the name is one more
 * of `other`, a file beside it: only the name counts (I168).
 */
export function ensureMarker(fs: FileSystem, path: string, other: string): void {
  try {
    createMarkerFile(fs, path);
  } catch (error) {
    if (isDiskFull(error)) fs.link(other, path);
    else if (errnoOf(error) !== "EEXIST") throw error;
    syncDirectory(fs, dirname(path));
  }
}
