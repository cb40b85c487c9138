import type { FileSystem } from "@holdfast/recovery-journal";
import {
  linesOf,
  sessionDirectory,
  transcriptAt,
  transcriptPath,
  whyUnreadable,
} from "@holdfast/session-worker/transport";

/** What is wrong with a transcript; `null`: nothing that can be seen. */
export type TranscriptFault =
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly why: string }
  /** Lines that say nothing, the first of them at `offset`. */
  | { readonly kind: "damaged"; readonly offset: number }
  | null;

/** Looked at from both ends: a transcript may have hundreds of MiB. */
const PIECE_BYTES = 64 * 1024;

/** Changes nothing, and costs the same however long the transcript is. */
export function transcriptFault(fs: FileSystem, home: string, sessionId: string): TranscriptFault {
  const path = transcriptPath(sessionDirectory(home, sessionId));
  if (!fs.exists(path)) return { kind: "missing" };
  const file = transcriptAt(path, fs);
  const why = whyUnreadable(file);
  if (why !== null) return { kind: "unreadable", why };
  const size = Number(fs.lstat(path).size);
  const tail = Math.max(0, size - PIECE_BYTES);
  for (const [from, to] of [
    [0, Math.min(size, PIECE_BYTES)],
    [tail, size],
  ] as const)
    for (const { head, offset } of linesOf(file, from, to))
      // A piece from the middle begins inside a line.
      if (head === null && (offset > from || from === 0)) return { kind: "damaged", offset };
  return null;
}
