import { errnoOf } from "@holdfast/shared-process";
import { constants } from "node:fs";
import type { FileSystem } from "../file-system.ts";

/**
 * Makes the names in a directory durable. The directory is opened anew for every sync: XFS answers 0 on a descriptor that
 * was open before a shutdown although the pending rename is lost (`fsync` on a fresh one says EIO).
 */
export function syncDirectory(fs: FileSystem, path: string): void {
  try {
    const fd = fs.open(path, DIRECTORY);
    try {
      fs.fsync(fd);
    } finally {
      fs.close(fd);
    }
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  }
}

/** `syncDirectory` off the caller's loop. */
export async function syncDirectoryAsync(fs: FileSystem, path: string): Promise<void> {
  try {
    const fd = fs.open(path, DIRECTORY);
    try {
      await fs.fsyncAsync(fd);
    } finally {
      fs.close(fd);
    }
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  }
}

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY;
const UNSUPPORTED = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EPERM", "EISDIR"]);

/**
 * Whether the error says that directories cannot be synced here. That is so on Windows, where names are durable by the file
 * system's own journal; on POSIX a file system without it cannot keep what is promised, and the error goes to the caller.
 */
export function isUnsupported(error: unknown, platform: NodeJS.Platform = process.platform): boolean {
  return platform === "win32" && UNSUPPORTED.has(errnoOf(error) ?? "");
}
