import type { FileSystem } from "../file-system.ts";
import { lastLineFeed, LINE_MAX_BYTES, readFully } from "./line-bytes.ts";
import { openForReading } from "./read-lines.ts";

/** The last whole line, read from the end; `null` when there is none, or it is over 16 MiB. */
export function lastLine(fs: FileSystem, path: string): string | null {
  const fd = openForReading(fs, path);
  if (fd === null) return null;
  try {
    const end = lastLineFeed(fs, fd, Number(fs.fstat(fd).size));
    if (end === -1) return null;
    const start = lastLineFeed(fs, fd, end) + 1;
    if (end - start > LINE_MAX_BYTES) return null;
    const buffer = Buffer.alloc(end - start);
    readFully(fs, fd, { buffer, start, length: buffer.length });
    return buffer.toString("utf8");
  } finally {
    fs.close(fd);
  }
}
