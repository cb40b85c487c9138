import { errnoOf } from "@holdfast/shared-process";
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import type { FileSystem } from "../file-system.ts";
import { writeAll } from "./write-all.ts";

export const PRIVATE_FILE_MODE = 0o600;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;

/** Opens a new file that nobody had: exclusive, never through a link, 0600 whatever the umask. One without its mode goes again. */
export function createExclusive(fs: FileSystem, path: string, mode: number = PRIVATE_FILE_MODE): number {
  const fd = fs.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, PRIVATE_FILE_MODE);
  try {
    fs.fchmod(fd, mode);
  } catch (error) {
    fs.close(fd);
    discardTemporary(fs, path);
    throw error;
  }
  return fd;
}

/** Writes `bytes` whole and synced under a unique name beside `path` and returns that name. On failure nothing stays. */
export function writeTemporary(fs: FileSystem, path: string, content: { bytes: Uint8Array; mode: number }): string {
  const temporary = temporaryName(path);
  try {
    const fd = createExclusive(fs, temporary, content.mode);
    try {
      writeAll(fs, fd, content.bytes, 0);
      fs.fsync(fd);
    } finally {
      fs.close(fd);
    }
  } catch (error) {
    discardTemporary(fs, temporary);
    throw error;
  }
  return temporary;
}

/** `writeTemporary` with its flush off the caller's loop. */
export async function writeTemporaryAsync(
  fs: FileSystem,
  path: string,
  content: { bytes: Uint8Array; mode: number },
): Promise<string> {
  const temporary = temporaryName(path);
  try {
    const fd = createExclusive(fs, temporary, content.mode);
    try {
      writeAll(fs, fd, content.bytes, 0);
      await fs.fsyncAsync(fd);
    } finally {
      fs.close(fd);
    }
  } catch (error) {
    discardTemporary(fs, temporary);
    throw error;
  }
  return temporary;
}

export function temporaryName(path: string): string {
  return `${path}.${randomBytes(6).toString("hex")}.tmp`;
}

/** Removes a temporary file after the error that matters, and says whether it was there. */
export function discardTemporary(fs: FileSystem, temporary: string): "removed" | "missing" | "unknown" {
  try {
    fs.unlink(temporary);
    return "removed";
  } catch (error) {
    // A temporary name that stays is read by nobody; the first error is the one to report.
    return errnoOf(error) === "ENOENT" ? "missing" : "unknown";
  }
}
