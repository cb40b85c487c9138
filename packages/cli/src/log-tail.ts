import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** About the last two hundred lines. */
export const TAIL_BYTES = 64 * 1024;

/** The end of a file, whole lines, at most `bytes`; empty when there is none. */
export function logTail(path: string, bytes: number): { readonly text: Buffer; readonly size: number } {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { text: Buffer.alloc(0), size: 0 };
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    const start = Math.max(0, size - bytes);
    const text = readFrom(fd, start, size - start);
    // A line that was cut at its beginning is left out.
    return { text: start === 0 ? text : text.subarray(text.indexOf(0x0a) + 1), size: start + text.length };
  } finally {
    closeSync(fd);
  }
}

/** Up to `length` bytes from `position`. */
export function readFrom(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, buffer, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}
