import { errnoOf } from "@holdfast/shared-process";
import { constants } from "node:fs";
import type { FileSystem } from "../file-system.ts";
import { CHUNK_BYTES, LF, LINE_MAX_BYTES, readFully } from "./line-bytes.ts";

/** A whole line: its text without the LF, where it begins, where the next one does. */
export type LogLine =
  | { readonly line: string; readonly offset: number; readonly end: number; readonly oversize?: false }
  | { readonly oversize: true; readonly offset: number; readonly end: number };

/**
 * The whole lines from `from`, the start of a line, up to byte `to` (default: the end when it is reached). LF alone separates; an
 * unterminated tail is not a line yet. Memory is bounded by one line of 16 MiB. A missing file has no lines.
 */
export function* readLines(
  fs: FileSystem,
  path: string,
  range: { readonly from?: number; readonly to?: number } = {},
): Generator<LogLine, void, undefined> {
  const fd = openForReading(fs, path);
  if (fd === null) return;
  try {
    yield* linesOf(fs, fd, { from: range.from ?? 0, to: range.to ?? Infinity });
  } finally {
    fs.close(fd);
  }
}

export function openForReading(fs: FileSystem, path: string): number | null {
  try {
    return fs.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

export function* linesOf(
  fs: FileSystem,
  fd: number,
  range: { readonly from: number; readonly to: number },
): Generator<LogLine, void, undefined> {
  const line = new LineBuffer(range.from);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let at = range.from;
  for (;;) {
    const length = readFully(fs, fd, { buffer: chunk, start: at, length: Math.min(CHUNK_BYTES, range.to - at) });
    if (length <= 0) return;
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1 && end < length; end = chunk.indexOf(LF, start)) {
      line.add(chunk.subarray(start, end));
      yield line.take(at + end + 1);
      start = end + 1;
    }
    line.add(chunk.subarray(start, length));
    at += length;
  }
}

/** The parts of the line being read. They are joined before they are decoded, so characters split over chunks stay whole. */
class LineBuffer {
  #parts: Buffer[] = [];
  #bytes = 0;
  #offset: number;

  constructor(offset: number) {
    this.#offset = offset;
  }

  add(part: Buffer): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    // Beyond the limit only the length matters.
    if (this.#bytes > LINE_MAX_BYTES) this.#parts = [];
    else this.#parts.push(Buffer.from(part));
  }

  take(end: number): LogLine {
    const offset = this.#offset;
    const oversize = this.#bytes > LINE_MAX_BYTES;
    const line = oversize ? "" : Buffer.concat(this.#parts).toString("utf8");
    this.#offset = end;
    this.#parts = [];
    this.#bytes = 0;
    return oversize ? { oversize, offset, end } : { line, offset, end };
  }
}
