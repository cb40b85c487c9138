import { constants } from "node:fs";
import { isDiskFull, writeAll } from "../durable/write-all.ts";
import type { FileSystem } from "../file-system.ts";
import { nodeFileSystem } from "../node-file-system.ts";

const CHUNK_BYTES = 64 * 1024;
const { O_RDWR, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Writes what stands from byte `from` on once more, byte for byte, so that the next flush takes it along. A flush that failed leaves
 * pages clean in memory that are not on disk, and a later one passes over them (Rebello et al., "Can Applications Recover from
 * fsync Failures?", 2020): whoever finds lines and builds on them must not rely on it. Without room (copy on write) nothing changes.
 */
export function rewriteLines(path: string, from: number, fs: FileSystem = nodeFileSystem): void {
  const fd = fs.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let position = from; ;) {
      const length = fs.read(fd, chunk, 0, chunk.length, position);
      if (length === 0) return;
      writeAll(fs, fd, chunk.subarray(0, length), position);
      position += length;
    }
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  } finally {
    fs.close(fd);
  }
}
