import { readBounded } from "../durable/small-files.ts";
import type { FileSystem } from "../file-system.ts";
import { READER_SEGMENT_MAX_BYTES } from "../format.ts";
import { refuse, type Refusal } from "../journal/inspect.ts";
import { type Look, settle } from "../journal/settle.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import { type LegacyScan, scanLegacy } from "./scan-legacy.ts";

/** What a file in the origin's format says: one JSON line for each change of a session, `version` 1 or 2. */
export type LegacyReport = Extract<LegacyScan, { kind: "legacy" }> | { readonly kind: "missing" } | Refusal;

/** What such a file leaves open, beside a journal. */
export type LegacyWork = Pick<Extract<LegacyScan, { kind: "legacy" }>, "open" | "uncertainTail">;

/** Reads such a file of at most 16 MiB, never through a link, and never writes (I85). */
export function readLegacyJournal(path: string, fs: FileSystem = nodeFileSystem): LegacyReport {
  const report = settle(() => lookOnce(path, fs));
  return report ?? refuse("unreadable", path, "it changes faster than it can be read");
}

function lookOnce(path: string, fs: FileSystem): Look<LegacyReport> {
  const sure = (found: LegacyReport): Look<LegacyReport> => ({ found, isSure: true, seen: [] });
  const read = readBounded(fs, path, READER_SEGMENT_MAX_BYTES);
  switch (read.kind) {
    case "missing":
      return sure(read);
    case "unreadable":
      return sure(refuse("unreadable", path, read.errno));
    case "oversize":
      return sure(refuse("oversize", path, "it has more than 16 MiB"));
    case "read": {
      const scan = scanLegacy(read.bytes);
      const found = scan.kind === "legacy" ? scan : refuse(scan.kind, path, scan.message, scan.offset);
      return { found, isSure: scan.kind === "legacy" && !scan.uncertainTail, seen: [read.bytes] };
    }
  }
}

/** The open work beside a journal: of no file and of a missing one there is none. */
export function openLegacyWork(path: string | undefined, fs: FileSystem): LegacyWork | Refusal {
  const report: LegacyReport = path === undefined ? { kind: "missing" } : readLegacyJournal(path, fs);
  if (report.kind === "refused") return report;
  if (report.kind === "missing") return { open: [], uncertainTail: false };
  return { open: report.open, uncertainTail: report.uncertainTail };
}
