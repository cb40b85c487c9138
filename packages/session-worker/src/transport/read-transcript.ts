import { basename, dirname } from "node:path";
import type { FileSystem } from "@holdfast/recovery-journal";
import { systemClock } from "@holdfast/shared-process";
import { ProtocolError, attachFrom } from "@holdfast/client/protocol";
import { formatCursor, parseCursor } from "./cursor.ts";
import type { Cursor } from "./cursor.ts";
import { firstFrom, firstOfRun, lastHead, linesOf, transcriptAt } from "./transcript-file.ts";
import type { TranscriptFile } from "./transcript-file.ts";

export interface ReadTranscriptOptions {
  readonly path: string;
  readonly fs?: FileSystem;
  /** A cursor (exclusive), `start` (the default) or `now`, which has nothing to replay. */
  readonly from?: string;
  /** Milliseconds since the epoch, for the stamp of a gap. */
  readonly now?: () => number;
}

/** `line` is an event as JSON without its newline. `gap` lines stand in no file; their cursor is where the rest begins. */
export interface TranscriptLine {
  readonly kind: "event" | "gap";
  readonly line: string;
  readonly cursor: Cursor | null;
  /** Byte in the file from which reading goes on after this line. */
  readonly end: number;
}

/**
 * Replays a transcript from a cursor, line by line, never the whole file at once (I157). Whatever cannot be replayed is named by a gap
 * first (I170). Throws `ProtocolError("usage")` for a text that is no cursor.
 */
export function* readTranscript(options: ReadTranscriptOptions): Generator<TranscriptLine> {
  if (options.from !== attachFrom.now) yield* replayFrom(options).lines;
}

/** The same, and the place where it begins: looks for the cursor at once. */
export function replayFrom(options: ReadTranscriptOptions): { offset: number; lines: Generator<TranscriptLine> } {
  const { from = attachFrom.start } = options;
  const file = transcriptAt(options.path, options.fs);
  const start = startOf(file, from);
  return { offset: start.offset, lines: linesAfter(file, start, { ...options, from }) };
}

function* linesAfter(
  file: TranscriptFile,
  start: Start,
  options: ReadTranscriptOptions & { readonly from: string },
): Generator<TranscriptLine> {
  const { from, now = () => systemClock.now() } = options;
  const stamp = { at: new Date(now()).toISOString(), sessionId: basename(dirname(options.path)) };
  const gapAt = (
    cursor: Cursor | null,
    body: { from: string; to: string; reason: string },
    end: number,
  ): TranscriptLine => ({
    kind: "gap",
    line: JSON.stringify({ cursor: nameOf(cursor), type: "gap", ...stamp, ...body }),
    cursor,
    end,
  });
  if (start.lost) {
    const reason = "events after this cursor were lost in a crash";
    yield gapAt(start.after, { from, to: nameOf(start.after), reason }, start.offset);
  }
  let previous = start.after;
  for (const { line, head, end } of linesOf(file, start.offset)) {
    if (head) yield { kind: "event", line, cursor: head, end };
    else yield gapAt(previous, { from: nameOf(previous), to: nameOf(previous), reason: "a damaged line" }, end);
    if (head) previous = { generation: head.generation, sequence: head.sequence };
  }
}

/** The cursor of the last whole event, `"start"` when there is none: attach from it to see only what comes. */
export function endCursor(path: string, fs?: FileSystem): string {
  return nameOf(lastHead(transcriptAt(path, fs)));
}

const nameOf = (cursor: Cursor | null): string => (cursor ? formatCursor(cursor) : attachFrom.start);

interface Start {
  readonly offset: number;
  /** The last event the reader has seen that is still there. */
  readonly after: Cursor | null;
  readonly lost: boolean;
}

function startOf(file: TranscriptFile, from: string): Start {
  if (from === attachFrom.start) return { offset: 0, after: null, lost: false };
  const wanted = parseCursor(from);
  if (!wanted) throw new ProtocolError("usage", `not a cursor: ${from.slice(0, 100)}`);
  const last = lastHead(file);
  let sequence = Math.min(wanted.sequence, last?.sequence ?? 0);
  // Writers follow each other in runs; from the wanted place back, run by run, to the last line of the wanted writer.
  while (sequence > 0) {
    const at = firstFrom(file, sequence);
    if (!at?.head) break;
    if (at.head.generation === wanted.generation && at.head.sequence <= wanted.sequence)
      return { offset: at.end, after: at.head, lost: at.head.sequence !== wanted.sequence };
    sequence = Math.min(firstOfRun(file, at.head)?.head?.sequence ?? 0, sequence) - 1;
  }
  return { offset: 0, after: null, lost: true };
}
