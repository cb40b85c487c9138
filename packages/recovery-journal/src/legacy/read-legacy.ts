import { readBounded } from "../durable/small-files.ts";
import type { FileSystem } from "../file-system.ts";
import { READER_SEGMENT_MAX_BYTES } from "../format.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import type { JournalReport } from "../types.ts";
import { type LegacyOperation, type LegacyScan, scanLegacy } from "./scan-legacy.ts";

/** What a file in the origin's format says: one JSON line for each change of a session, `version` 1 or 2. */
export type LegacyReport =
  | Extract<LegacyScan, { kind: "legacy" }>
  | { readonly kind: "missing" }
  | Extract<JournalReport, { kind: "refused" }>;

/** Reads such a file of at most 16 MiB, never through a link, and never writes (I85). */
export function readLegacyJournal(path: string, fs: FileSystem = nodeFileSystem): LegacyReport {
  const read = readBounded(fs, path, READER_SEGMENT_MAX_BYTES);
  switch (read.kind) {
    case "missing":
      return read;
    case "unreadable":
      return { kind: "refused", why: "unreadable", path, offset: null, message: read.errno };
    case "oversize":
      return { kind: "refused", why: "oversize", path, offset: null, message: "it has more than 16 MiB" };
    case "read": {
      const scan = scanLegacy(read.bytes);
      if (scan.kind === "legacy") return scan;
      return { kind: "refused", why: scan.kind, path, offset: scan.offset, message: scan.message };
    }
  }
}

/** The open work beside a journal: of no file and of a missing one there is none. */
export function openLegacyWork(
  path: string | undefined,
  fs: FileSystem,
): readonly LegacyOperation[] | Extract<LegacyReport, { kind: "refused" }> {
  if (path === undefined) return [];
  const report = readLegacyJournal(path, fs);
  if (report.kind === "refused") return report;
  return report.kind === "missing" ? [] : report.open;
}
