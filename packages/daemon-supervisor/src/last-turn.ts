import { attachFrom } from "@holdfast/client/protocol";
import type { WaitAnswer } from "@holdfast/client/protocol";
import { readLines } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { endCursor, transcriptAt, whyUnreadable } from "@holdfast/session-worker/transport";
import { errnoOf } from "@holdfast/shared-process";

/** Looked at from the end, in growing pieces: a turn ends near it, unless much was said since. */
const PIECES_BYTES = [64 * 1024, 1024 * 1024, 16 * 1024 * 1024, Number.POSITIVE_INFINITY];
/** `cursor` and `type` are always a line's first keys. */
const TURN_ENDED = /^\{"cursor":"[^"]{1,80}","type":"turn_ended",/;

type LastTurn = NonNullable<WaitAnswer["lastTurn"]>;

/** What a wait tells of a transcript; of one that cannot be read nothing, since the wait is answered all the same. */
export function transcriptEnd(fs: FileSystem, path: string): Pick<WaitAnswer, "lastTurn" | "cursor"> {
  if (whyUnreadable(transcriptAt(path, fs)) !== null) return { cursor: attachFrom.start };
  const turn = lastTurn(fs, path);
  return { ...(turn ? { lastTurn: turn } : {}), cursor: endCursor(path, fs) };
}

/** How the last turn of a transcript ended; `null` when none has. Never holds more than one line (I157). */
export function lastTurn(fs: FileSystem, path: string): LastTurn | null {
  const size = sizeOf(fs, path);
  for (const piece of PIECES_BYTES) {
    const from = Math.max(0, size - piece);
    const found = lastTurnBetween(fs, path, { from, to: size });
    if (found || from === 0) return found;
  }
  return null;
}

function lastTurnBetween(fs: FileSystem, path: string, range: { from: number; to: number }): LastTurn | null {
  let found: string | null = null;
  for (const read of readLines(fs, path, range)) {
    // A piece begins inside a line: its rest looks like no head, and the next piece has all of it.
    if (read.oversize !== true && TURN_ENDED.test(read.line)) found = read.line;
  }
  if (found === null) return null;
  try {
    // A line of our own writer; readers tolerate fields they do not know (I26).
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { stopReason, exitCode } = JSON.parse(found) as LastTurn;
    return { stopReason, ...(exitCode === undefined ? {} : { exitCode }) };
  } catch {
    // A damaged line says nothing about its turn (I142).
    return null;
  }
}

function sizeOf(fs: FileSystem, path: string): number {
  try {
    return Number(fs.lstat(path).size);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return 0;
    throw error;
  }
}
