import { CodedError } from "@holdfast/shared-process";
import type { FileSystem } from "../file-system.ts";
import { systemErrnoOf } from "./outcome.ts";

const DISK_FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Whether the error says that there is no room: it passes by itself, unlike a broken disk. */
export function isDiskFull(error: unknown): boolean {
  const errno = systemErrnoOf(error);
  return errno !== null && DISK_FULL.has(errno);
}

/**
 * Writes all of `bytes`, from `position` or at the descriptor's own place (`null`). A short write is continued, so that the
 * error behind it comes out; a write without progress throws `CodedError("write_stalled")`.
 */
export function writeAll(fs: FileSystem, fd: number, bytes: Uint8Array, position: number | null): void {
  let written = 0;
  while (written < bytes.length) {
    const place = position === null ? null : position + written;
    const count = fs.write(fd, bytes, written, bytes.length - written, place);
    if (count <= 0) throw new CodedError("write_stalled", `a write made no progress after ${written} bytes`);
    written += count;
  }
}
