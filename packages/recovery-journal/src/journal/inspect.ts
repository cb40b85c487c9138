import { errnoOf, reasonOf } from "@holdfast/shared-process";
import { constants } from "node:fs";
import { join } from "node:path";
import { directoryProblem, effectiveUser } from "../durable/private-directory.ts";
import { readUpTo } from "../durable/small-files.ts";
import type { FileSystem } from "../file-system.ts";
import { evidenceSegment, isTemporaryName, READER_SEGMENT_MAX_BYTES, segmentName, segmentNumber } from "../format.ts";
import type { Head } from "../format/records.ts";
import type { JournalReport } from "../types.ts";
import { scanSegment, type ScanTarget } from "./scan.ts";
import { type Look, settle } from "./settle.ts";
import type { JournalState } from "./state.ts";

export type Refusal = Extract<JournalReport, { kind: "refused" }>;

export type Inspection =
  | { readonly kind: "fresh"; readonly names: JournalNames }
  | {
      readonly kind: "whole";
      readonly names: JournalNames;
      readonly segment: number;
      readonly head: Head;
      readonly state: JournalState;
      readonly tornBytes: number;
      /** The head of the topmost unfinished claim above, as far as it is readable. */
      readonly claim: Head | null;
    }
  | Refusal;

export interface JournalNames {
  /** Descending. */
  readonly segments: readonly number[];
  readonly temporaries: readonly string[];
  /** What quarantines keep; never read here. */
  readonly evidence: readonly string[];
}

export interface InspectTarget {
  readonly directory: string;
  readonly kinds: ScanTarget["kinds"];
  /**
   * One's own claim: it and what is above is not looked at. Where something is above, its owner may be removing what is below, and
   * this claim has lost: `fresh`.
   */
  readonly below?: number;
  /** The highest segment that is looked at. */
  readonly upTo?: number;
}

/**
 * Reads a journal's directory and never writes: the same bytes get the same verdict at every start (I71), and bytes that a writer is
 * in the middle of get none.
 */
export function inspectJournal(fs: FileSystem, target: InspectTarget): Inspection {
  const changing = "the segments change faster than they can be read";
  return settle(() => lookOnce(fs, target)) ?? refuse("unreadable", target.directory, changing);
}

/** Whether a verdict holds whatever a writer was doing: nothing that it has half done looks like this. */
export function isSure(inspection: Inspection): boolean {
  if (inspection.kind === "refused") return inspection.why !== "corrupt";
  return inspection.kind === "whole" && inspection.tornBytes === 0;
}

/** `retired`: a segment that is listed was replaced meanwhile; its successor is in the next list. */
function lookOnce(fs: FileSystem, target: InspectTarget): Look<Inspection> | "retired" {
  const { directory } = target;
  const sure = (found: Inspection): Look<Inspection> => ({ found, isSure: true, seen: [] });
  let names: JournalNames;
  try {
    const problem = directoryProblem(fs, directory);
    if (problem !== null) return sure(refuse("permissions", directory, problem));
    names = listNames(fs, directory);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") return sure(refuse("unreadable", directory, reasonOf(error)));
    return sure({ kind: "fresh", names: { segments: [], temporaries: [], evidence: [] } });
  }
  const { below = Infinity, upTo = Infinity } = target;
  if (names.segments.some((segment) => segment > below)) return sure({ kind: "fresh", names });
  const seen: Uint8Array[] = [Buffer.from(names.segments.join())];
  const found = judge(fs, target, { names, seen, segments: names.segments.filter((n) => n < below && n <= upTo) });
  return found === "retired" ? found : { found, isSure: isSure(found), seen };
}

/** Goes from the highest segment down to the one that counts. What it reads is added to `seen`. */
function judge(
  fs: FileSystem,
  { directory, kinds }: InspectTarget,
  from: { readonly names: JournalNames; readonly segments: readonly number[]; readonly seen: Uint8Array[] },
): Inspection | "retired" {
  const { names, segments, seen } = from;
  let claim: Head | null = null;
  let damage: Refusal | null = null;
  for (const segment of segments) {
    const path = join(directory, segmentName(segment));
    const read = readSegment(fs, path);
    if (read === "retired" || !(read instanceof Uint8Array)) return read;
    seen.push(read);
    const scan = scanSegment(read, { segment, kinds });
    if (scan.kind === "whole") return { ...scan, names, segment, claim };
    if (scan.kind === "corrupt") return refuse("corrupt", path, scan.message, scan.offset);
    if (scan.kind === "unsupported") {
      return refuse("unsupported-version", path, `the format version ${scan.version} is not known`);
    }
    claim ??= scan.head;
    damage = refuse("corrupt", path, "the snapshot is not whole and no older segment stands", scan.offset);
  }
  return damage ?? { kind: "fresh", names };
}

/** The number of the highest segment, finished or not; `null` where there is none. */
export function highestSegment(fs: FileSystem, directory: string): number | null {
  let highest: number | null = null;
  for (const name of fs.readdir(directory)) {
    const segment = segmentNumber(name);
    if (segment !== null && segment > (highest ?? 0)) highest = segment;
  }
  return highest;
}

export function listNames(fs: FileSystem, directory: string): JournalNames {
  const names = fs.readdir(directory);
  const segments = names.map(segmentNumber).filter((segment) => segment !== null);
  return {
    segments: segments.toSorted((left, right) => right - left),
    temporaries: names.filter(isTemporaryName),
    evidence: names.filter((name) => evidenceSegment(name) !== null),
  };
}

function readSegment(fs: FileSystem, path: string): Uint8Array | "retired" | Refusal {
  try {
    const fd = fs.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fs.fstat(fd);
      if (!stats.isFile()) return refuse("permissions", path, "a segment is not a regular file");
      if (stats.uid !== BigInt(effectiveUser()))
        return refuse("permissions", path, "a segment belongs to another user");
      if ((stats.mode & 0o077n) !== 0n) return refuse("permissions", path, `others may read it: run chmod 600 ${path}`);
      if (stats.size > BigInt(READER_SEGMENT_MAX_BYTES)) return refuse("oversize", path, `it has ${stats.size} bytes`);
      return readUpTo(fs, fd, Number(stats.size));
    } finally {
      fs.close(fd);
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT") return "retired";
    if (errno === "ELOOP") return refuse("permissions", path, "a segment is a symbolic link");
    return refuse("unreadable", path, reasonOf(error));
  }
}

export function refuse(why: Refusal["why"], path: string, message: string, offset: number | null = null): Refusal {
  return { kind: "refused", why, path, offset, message };
}
