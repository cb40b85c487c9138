import { errnoOf, reasonOf } from "@holdfast/shared-process";
import { basename, join } from "node:path";
import { readBounded } from "../durable/small-files.ts";
import type { FileSystem } from "../file-system.ts";
import { READER_SEGMENT_MAX_BYTES, segmentName, segmentNumber } from "../format.ts";
import { type Inspection, inspectJournal, isSure, refuse } from "../journal/inspect.ts";
import { reportOf } from "../journal/read.ts";
import { scanSegment } from "../journal/scan.ts";
import { type Look, settle } from "../journal/settle.ts";
import { type LegacyReport, readLegacyJournal } from "../legacy/read-legacy.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import type { JournalReport } from "../types.ts";
import { type SegmentLine, segmentLines } from "./segment-lines.ts";

/** A journal as somebody who is not its owner looks at it. */
export type JournalView =
  | {
      readonly kind: "journal";
      readonly report: JournalReport;
      /** The segment that counts, or the one that is refused; `null` when there is none or it cannot be read. */
      readonly segment: {
        readonly path: string;
        /** Bytes that its head says; `null` where that is damaged or not known. */
        readonly capacity: number | null;
        readonly lines: readonly SegmentLine[];
      } | null;
    }
  | { readonly kind: "legacy"; readonly report: Exclude<LegacyReport, { kind: "missing" }> }
  | { readonly kind: "missing" };

/**
 * Reads the directory of a journal, one segment alone, or a file in the origin's format; never writes. Operations may be of any
 * kind. A directory gets the verdict that its owner would get; a file is judged by its content alone, whatever its mode.
 */
export function viewJournal(path: string, fs: FileSystem = nodeFileSystem): JournalView {
  try {
    const stats = fs.lstat(path);
    if (stats.isSymbolicLink()) return viewOf(refuse("permissions", path, "it is a symbolic link"), null);
    return stats.isDirectory() ? viewDirectory(path, fs) : viewFile(path, fs);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return { kind: "missing" };
    return { kind: "journal", report: refuse("unreadable", path, reasonOf(error)), segment: null };
  }
}

function viewDirectory(directory: string, fs: FileSystem): JournalView {
  const inspection = inspectJournal(fs, { directory, kinds: "any" });
  if (inspection.kind === "fresh") return viewOf(inspection, null);
  const path = inspection.kind === "whole" ? join(directory, segmentName(inspection.segment)) : inspection.path;
  // A second read: a live owner may have written meanwhile, or have moved on to the next segment.
  const read = readBounded(fs, path, READER_SEGMENT_MAX_BYTES);
  return viewOf(inspection, read.kind === "read" ? { path, bytes: read.bytes } : null);
}

function viewFile(path: string, fs: FileSystem): JournalView {
  const view = settle(() => lookAtFile(path, fs));
  return view ?? viewOf(refuse("unreadable", path, "it changes faster than it can be read"), null);
}

function lookAtFile(path: string, fs: FileSystem): Look<JournalView> {
  const sure = (found: JournalView): Look<JournalView> => ({ found, isSure: true, seen: [] });
  const read = readBounded(fs, path, READER_SEGMENT_MAX_BYTES);
  const number = segmentNumber(basename(path));
  const isSegment = number !== null || (read.kind === "read" && read.bytes.subarray(0, 5).equals(HEAD_START));
  if (!isSegment) {
    const report = readLegacyJournal(path, fs);
    return sure(report.kind === "missing" ? report : { kind: "legacy", report });
  }
  switch (read.kind) {
    case "missing":
      return sure(read);
    case "unreadable":
      return sure(viewOf(refuse("unreadable", path, read.errno), null));
    case "oversize":
      return sure(viewOf(refuse("oversize", path, "it has more than 16 MiB"), null));
    case "read": {
      const { bytes } = read;
      const inspection = inspectionOf(bytes, { path, number });
      return { found: viewOf(inspection, { path, bytes }), isSure: isSure(inspection), seen: [bytes] };
    }
  }
}

/** `{"t":`: no line of the origin begins so. */
const HEAD_START = Buffer.from('{"t":');

function inspectionOf(bytes: Uint8Array, file: { path: string; number: number | null }): Inspection {
  const scan = scanSegment(bytes, { segment: file.number, kinds: "any" });
  switch (scan.kind) {
    case "whole": {
      const segment = scan.head.n;
      return { ...scan, segment, names: { segments: [segment], temporaries: [], evidence: [] }, claim: null };
    }
    case "unfinished":
      return refuse("corrupt", file.path, "the snapshot is not whole", scan.offset);
    case "corrupt":
      return refuse("corrupt", file.path, scan.message, scan.offset);
    case "unsupported":
      return refuse("unsupported-version", file.path, `the format version ${scan.version} is not known`);
  }
}

function viewOf(inspection: Inspection, file: { path: string; bytes: Uint8Array } | null): JournalView {
  const whole = inspection.kind === "whole" ? inspection : null;
  const capacity = whole?.head.cap ?? null;
  const segment = file === null ? null : { path: file.path, capacity, lines: segmentLines(file.bytes) };
  if (inspection.kind === "refused") return { kind: "journal", report: inspection, segment };
  const kinds = [...(whole?.state.open.values() ?? [])].map(({ operation }) => operation.k);
  return { kind: "journal", report: reportOf(inspection, kinds), segment };
}
