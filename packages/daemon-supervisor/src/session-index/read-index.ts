import { readLines } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { indexPath } from "../home.ts";
import { readSessionRecord, sessionIdsOf } from "../session-record-file.ts";
import type { RecordRead } from "../session-record-file.ts";
import { HEAD_LINE, decodeRow, isOfRecord, recordStamp } from "./row.ts";
import type { IndexRow, SessionSummary } from "./row.ts";

export interface FoundIndex {
  /** `unsound`: nothing behind its first bad line counts, and it is to be written anew. */
  readonly kind: "sound" | "missing" | "unsound";
  readonly rows: ReadonlyMap<string, IndexRow>;
  /** Those that count no more among them. */
  readonly lines: number;
}

/** The index as it can be used. Never throws: what it does not say is in the records. */
export function readIndex(fs: FileSystem, home: string): FoundIndex {
  const rows = new Map<string, IndexRow>();
  let lines = 0;
  let kind: FoundIndex["kind"] = "missing";
  try {
    for (const read of readLines(fs, indexPath(home))) {
      const line = read.oversize === true ? "" : read.line;
      if (kind === "missing") {
        if (line !== HEAD_LINE) return { kind: "unsound", rows, lines };
        kind = "sound";
        continue;
      }
      const row = decodeRow(line);
      if (row === null) return { kind: "unsound", rows, lines };
      rows.set(row.sessionId, row);
      lines += 1;
    }
  } catch {
    // Something else has its name, or the disk cannot read it.
    return { kind: "unsound", rows, lines };
  }
  return { kind, rows, lines };
}

/** All sessions of a home, by the index where it still fits and else by their records. Writes nothing. */
export function readSummaries(fs: FileSystem, home: string): RecordRead<SessionSummary>[] {
  const { rows } = readIndex(fs, home);
  return sessionIdsOf(fs, home).flatMap((sessionId) => {
    const row = rows.get(sessionId);
    if (row && isOfRecord(row, recordStamp(fs, home, sessionId))) return { kind: "record", record: row };
    return readSessionRecord(fs, home, sessionId) ?? [];
  });
}
