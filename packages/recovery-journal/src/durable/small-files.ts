import { errnoOf } from "@holdfast/shared-process";
import { constants } from "node:fs";
import { dirname } from "node:path";
import type { FileSystem } from "../file-system.ts";
import { syncDirectory } from "./sync-directory.ts";
import { createExclusive, discardTemporary } from "./temporary-file.ts";

/**
 * Creates an empty file whose existence is the message, durably. Throws EEXIST when it is there already; after any other
 * error it is removed again, so that it says nothing that the caller does not know of. Where the disk fails at that, too, it
 * may be there.
 */
export function createMarkerFile(fs: FileSystem, path: string): void {
  const fd = createExclusive(fs, path);
  try {
    try {
      fs.fsync(fd);
    } finally {
      fs.close(fd);
    }
    syncDirectory(fs, dirname(path));
  } catch (error) {
    discardTemporary(fs, path);
    throw error;
  }
}

/** Removes a file; that it is gone already is fine. `sync` makes the removal durable. */
export function removeFile(fs: FileSystem, path: string, options: { readonly sync?: boolean } = {}): void {
  try {
    fs.unlink(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
  if (options.sync === true) syncDirectory(fs, dirname(path));
}

export type BoundedRead =
  | { readonly kind: "read"; readonly bytes: Buffer }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly errno: string }
  | { readonly kind: "oversize" };

/** Reads a small file whole, never through a link, never more than `maxBytes`. Something that is no file is `unreadable`. */
export function readBounded(fs: FileSystem, path: string, maxBytes: number): BoundedRead {
  try {
    const fd = fs.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fs.fstat(fd);
      if (!stats.isFile()) return { kind: "unreadable", errno: stats.isDirectory() ? "EISDIR" : "EINVAL" };
      if (stats.size > BigInt(maxBytes)) return { kind: "oversize" };
      // One byte more than allowed shows a file that grew since its size was read.
      const bytes = readUpTo(fs, fd, Math.min(maxBytes, Number(stats.size)) + 1);
      return bytes.length > maxBytes ? { kind: "oversize" } : { kind: "read", bytes };
    } finally {
      fs.close(fd);
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT") return { kind: "missing" };
    if (typeof errno !== "string") throw error;
    return { kind: "unreadable", errno };
  }
}

/** Errors that may be of the moment: another process has taken the last descriptor, a disk behind a network has hiccuped. */
const passing: ReadonlySet<string> = new Set(["EIO", "EAGAIN", "EINTR", "EMFILE", "ENFILE"]);
const PATIENT_TRIES = 3;

/** As `readBounded`; what may be an error of the moment is `unreadable` only at the third try, for callers who act on that. */
export function readPatiently(fs: FileSystem, path: string, maxBytes: number): BoundedRead {
  for (let tries = 1; ; tries += 1) {
    const read = readBounded(fs, path, maxBytes);
    if (read.kind !== "unreadable" || !passing.has(read.errno) || tries === PATIENT_TRIES) return read;
  }
}

/** Reads from the start until the end of the file or `limit` bytes. */
export function readUpTo(fs: FileSystem, fd: number, limit: number): Buffer {
  const buffer = Buffer.alloc(limit);
  let length = 0;
  while (length < limit) {
    const count = fs.read(fd, buffer, length, limit - length, length);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}
