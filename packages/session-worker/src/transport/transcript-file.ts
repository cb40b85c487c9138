import { findLine, lastLine, nodeFileSystem, readBounded, readLines } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { readHead } from "./cursor.ts";
import type { LineHead } from "./cursor.ts";

export const transcriptPath = (directory: string): string => `${directory}/transcript.jsonl`;

export interface TranscriptFile {
  readonly path: string;
  readonly fs: FileSystem;
}

/** One whole line and its place. `head` is `null` where the line is damaged or longer than a reader may hold. */
export interface PlacedLine {
  readonly line: string;
  readonly head: LineHead | null;
  readonly offset: number;
  readonly end: number;
}

export const transcriptAt = (path: string, fs: FileSystem = nodeFileSystem): TranscriptFile => ({ path, fs });

/** Why what is in a transcript's place cannot be read as one; `null` where it can, or nothing is there. */
export function whyUnreadable({ path, fs }: TranscriptFile): string | null {
  const read = readBounded(fs, path, 0);
  return read.kind === "unreadable" ? `${path} cannot be read: ${read.errno}` : null;
}

/** No event has a NUL in it: a power cut leaves them where a part of a line did not reach the disk and its end did. */
const isWhole = (line: string): boolean => !line.includes("\0");

/** Streams lines from byte `from` up to byte `to`; a torn tail is not a line. A missing file has none. */
export function* linesOf({ path, fs }: TranscriptFile, from = 0, to?: number): Generator<PlacedLine> {
  for (const read of readLines(fs, path, { from, ...(to === undefined ? {} : { to }) })) {
    const { offset, end } = read;
    if (read.oversize === true) yield { line: "", head: null, offset, end };
    else yield { line: read.line, head: isWhole(read.line) ? readHead(read.line) : null, offset, end };
  }
}

/** The first line with this sequence or a later one, found by bisection. */
export function firstFrom(file: TranscriptFile, sequence: number): PlacedLine | null {
  return firstAt(
    file,
    findLine(file.fs, file.path, (line) => sequenceOf(line) < sequence),
  );
}

/** The first line written by the generation that wrote `head`, which may be any line of its run. */
export function firstOfRun(file: TranscriptFile, head: LineHead): PlacedLine | null {
  const before = (line: string): boolean => {
    const other = readHead(line);
    return other === null || (other.sequence < head.sequence && other.generation !== head.generation);
  };
  return firstAt(file, findLine(file.fs, file.path, before));
}

/** The last line that can be read. Damage at the end costs a look at the whole file, once. */
export function lastHead(file: TranscriptFile): LineHead | null {
  const last = lastLine(file.fs, file.path);
  const head = last === null ? null : readHead(last);
  if (head) return head;
  let highest: LineHead | null = null;
  for (const { head: found } of linesOf(file)) if (found && found.sequence >= (highest?.sequence ?? 0)) highest = found;
  return highest;
}

/** A damaged line inside the file counts as earlier, so that a search goes on behind it (I142). */
const sequenceOf = (line: string): number => readHead(line)?.sequence ?? 0;

function firstAt(file: TranscriptFile, offset: number): PlacedLine | null {
  for (const placed of linesOf(file, offset)) if (placed.head) return placed;
  return null;
}
