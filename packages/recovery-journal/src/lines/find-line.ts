import type { FileSystem } from "../file-system.ts";
import { lastLineFeed } from "./line-bytes.ts";
import { linesOf, openForReading } from "./read-lines.ts";

/**
 * The byte offset of the first line for which `isBefore` is false, or the end of the last whole line. By binary search over
 * bytes: the lines must be ordered, those that are before first. A line over 16 MiB counts with the next one that can be read.
 */
export function findLine(fs: FileSystem, path: string, isBefore: (line: string) => boolean): number {
  const fd = openForReading(fs, path);
  if (fd === null) return 0;
  try {
    const end = lastLineFeed(fs, fd, Number(fs.fstat(fd).size)) + 1;
    // Every line that begins before `low` is before; none that begins at `high` or later is, and the first such begins at `found`.
    let [low, high, found] = [0, end, end];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const start = lineStart(fs, fd, middle);
      const next = readableFrom(fs, fd, { from: start, to: end });
      if (next !== null && isBefore(next.line)) {
        low = next.end;
      } else {
        if (next !== null) found = next.offset;
        high = start;
      }
    }
    return found;
  } finally {
    fs.close(fd);
  }
}

/** The start of the line that the byte at `offset` is in. */
function lineStart(fs: FileSystem, fd: number, offset: number): number {
  return lastLineFeed(fs, fd, offset) + 1;
}

function readableFrom(
  fs: FileSystem,
  fd: number,
  range: { readonly from: number; readonly to: number },
): { line: string; offset: number; end: number } | null {
  for (const line of linesOf(fs, fd, range)) if (line.oversize !== true) return line;
  return null;
}
