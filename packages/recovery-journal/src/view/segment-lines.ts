import { decodeLine, HEAD_SEED, LF } from "../format/line.ts";
import { parseHead } from "../format/records.ts";

/** One line of a segment as it stands, whatever the verdict on the whole is. */
export interface SegmentLine {
  /** Byte offset of its beginning. */
  readonly offset: number;
  /** Without its `\n`. */
  readonly bytes: number;
  /** The checked object without its checksum; `null` when the checksum is wrong, as in a torn or damaged line. */
  readonly fields: Readonly<Record<string, unknown>> | null;
}

/** The lines of a segment but the empty ones. Behind a damaged head nothing can be checked, as the salt is lost. */
export function segmentLines(bytes: Uint8Array): SegmentLine[] {
  const lines: SegmentLine[] = [];
  let seed: number | null = HEAD_SEED;
  for (let at = 0; at < bytes.length;) {
    const found = bytes.indexOf(LF, at);
    const end = found === -1 ? bytes.length : found;
    const line = bytes.subarray(at, end);
    const fields: SegmentLine["fields"] = seed === null ? null : decodeLine(line, seed);
    if (line.length > 0) lines.push({ offset: at, bytes: line.length, fields });
    if (at === 0) seed = fields === null ? null : saltOf(fields);
    at = end + 1;
  }
  return lines;
}

function saltOf(fields: Readonly<Record<string, unknown>>): number | null {
  const head = parseHead(fields);
  return head === null || "unsupported" in head ? null : Number.parseInt(head.e, 16);
}
