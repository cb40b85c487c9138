import { constants } from "node:fs";
import type { FileSystem } from "../file-system.ts";

/**
 * Makes the names in a directory durable. The directory is opened anew for every sync: XFS answers 0 on a descriptor that
 * was open before a shutdown although the pending rename is lost (`fsync` on a fresh one says EIO).
 */
export function syncDirectory(fs: FileSystem, path: string): void {
  const fd = fs.open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fs.fsync(fd);
  } finally {
    fs.close(fd);
  }
}
