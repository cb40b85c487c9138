import type { FileSystem } from "../file-system.ts";

export const LF = 0x0a;
/** A longer line is not held in memory: it is reported as oversize. */
export const LINE_MAX_BYTES = 16 * 1024 * 1024;
export const CHUNK_BYTES = 64 * 1024;

/** The offset of the last LF before `end`, −1 when there is none. Read backwards in chunks. */
export function lastLineFeed(fs: FileSystem, fd: number, end: number): number {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let stop = end;
  while (stop > 0) {
    const start = Math.max(0, stop - CHUNK_BYTES);
    const length = readFully(fs, fd, { buffer, start, length: stop - start });
    const found = buffer.subarray(0, length).lastIndexOf(LF);
    if (found !== -1) return start + found;
    stop = start;
  }
  return -1;
}

/** Reads `length` bytes at `start`, fewer only at the end of the file. */
export function readFully(
  fs: FileSystem,
  fd: number,
  target: { readonly buffer: Uint8Array; readonly start: number; readonly length: number },
): number {
  let read = 0;
  while (read < target.length) {
    const count = fs.read(fd, target.buffer, read, target.length - read, target.start + read);
    if (count === 0) break;
    read += count;
  }
  return read;
}
