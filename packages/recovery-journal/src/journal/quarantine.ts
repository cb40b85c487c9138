import { CodedError, errnoOf, reasonOf } from "@holdfast/shared-process";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { basename, join } from "node:path";
import { systemErrnoOf } from "../durable/outcome.ts";
import { linkOnce, publishFile } from "../durable/publish-file.ts";
import { removeFile } from "../durable/small-files.ts";
import { syncDirectory } from "../durable/sync-directory.ts";
import { createExclusive, discardTemporary, temporaryName } from "../durable/temporary-file.ts";
import { writeAll } from "../durable/write-all.ts";
import type { FileSystem } from "../file-system.ts";
import {
  EVIDENCE_MAX,
  evidenceName,
  evidenceSegment,
  RECORD_MAX_BYTES,
  segmentName,
  segmentNumber,
} from "../format.ts";
import { decodeLine, HEAD_SEED, LF } from "../format/line.ts";
import { parseHead } from "../format/records.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import type { JournalOwner, JournalReport, OpenJournalOptions, Quarantine } from "../types.ts";
import { untilNotLost } from "./attempts.ts";
import { isOvertaken, prepareDirectory, removeOvertaken } from "./claim.ts";
import { journalError } from "./errors.ts";
import {
  type Inspection,
  inspectJournal,
  type InspectTarget,
  type JournalNames,
  listNames,
  type Refusal,
  refuse,
} from "./inspect.ts";
import { storedOwner } from "./owner.ts";
import { reportOf } from "./read.ts";
import { buildImage } from "./segment-image.ts";
import { emptyState } from "./state.ts";

/** The refusal that somebody looked at, and `digestOf` the file that it names. */
export type Damage =
  | { readonly why: "corrupt" | "oversize"; readonly path: string; readonly sha256: string }
  | { readonly why: "missing"; readonly path: string; readonly sha256: null };

export interface QuarantineOptions<Kind extends string> extends Pick<
  OpenJournalOptions<Kind>,
  "directory" | "owner" | "kinds" | "fs" | "now" | "newSalt"
> {
  /** As for `openJournal`. `null`: no owner is named, as the head or all of the journal is lost; the question is whether anybody writes. */
  readonly probeOwner: (owner: JournalOwner | null) => "gone" | "current" | "unknown";
  readonly seen: Damage;
  /** Why, in the words of whoever decided. */
  readonly reason: string;
}

export type QuarantineResult<Kind extends string> =
  | { readonly kind: "quarantined"; readonly quarantine: Quarantine }
  /** Its owner is not proven gone; `null` where no readable head names it. */
  | { readonly kind: "owned"; readonly owner: JournalOwner | null }
  /** It is not, or is no longer, what was seen; or it cannot be read, which is not known to be damage. Nothing was changed. */
  | { readonly kind: "changed"; readonly report: JournalReport<Kind> };

/**
 * Puts a damaged journal aside, as a person decided (I71): every segment's bytes are copied under an evidence name, and a new
 * segment says so until `resolveQuarantine`. What can still be read of the damaged one is not believed, and its own
 * quarantines are part of what is uncertain. A crash at any point leaves the refused journal or the quarantined one. Should a
 * writer live in spite of the probe, the new segment fences it before its next acknowledgement; what it acknowledged until then is
 * kept as evidence of its own, and no file of evidence changes by what it writes. Throws as `openJournal`, and `CodedError`:
 * `quarantine_full` (there is too much evidence), `evidence_exists` (another file has the name; it is never overwritten),
 * `record_too_large` (the reason, too).
 */
export async function quarantineJournal<Kind extends string>(
  options: QuarantineOptions<Kind>,
): Promise<QuarantineResult<Kind>> {
  const asked = { ...options, owner: storedOwner(options.owner) };
  return untilNotLost(options.directory, () => quarantineOnce(asked, options.fs ?? nodeFileSystem));
}

/** SHA-256, in hex, of a file that is never read through a link. Throws the system's error. */
export function digestOf(path: string, fs: FileSystem = nodeFileSystem): string {
  return withFile(fs, path, (fd) => readThrough(fs, fd).sha256);
}

function quarantineOnce<Kind extends string>(
  options: QuarantineOptions<Kind>,
  fs: FileSystem,
): QuarantineResult<Kind> | "lost" {
  const { directory, kinds, seen } = options;
  const found = inspectDamage(fs, options);
  const changed = (report: JournalReport<Kind>): QuarantineResult<Kind> => ({ kind: "changed", report });
  if (found.kind === "whole") return changed(reportOf(found, kinds));
  if (found.kind === "fresh") {
    if (seen.why !== "missing" || seen.path !== directory) return changed({ kind: "fresh" });
    if (options.probeOwner(null) !== "gone") return { kind: "owned", owner: null };
    prepareDirectory({ fs, directory });
    return publish(options, { fs, names: found.names, evidence: [] });
  }
  if (found.why !== seen.why || found.path !== seen.path) return changed(found);
  const names = listNames(fs, directory);
  const evidence: Evidence[] = [];
  for (const segment of names.segments) {
    const read = readEvidence(fs, directory, segment);
    if (read === "lost") return read;
    if ("kind" in read) return changed(read);
    evidence.push({ ...read, isBlank: read.isBlank && read.path !== seen.path });
  }
  if (evidence.find(({ path }) => path === seen.path)?.sha256 !== seen.sha256) return changed(found);
  const standing = evidence.find(({ owner, isBlank }) => !isBlank && isStanding(options, owner));
  if (standing !== undefined) return { kind: "owned", owner: standing.owner };
  return publish(options, { fs, names, evidence });
}

/** The verdict, or the first one below it that is no damage: of such a segment nothing may be put aside. */
function inspectDamage(fs: FileSystem, { directory, kinds }: InspectTarget): Inspection {
  const first = inspectJournal(fs, { directory, kinds });
  let next = first;
  while (next.kind === "refused") {
    if (next.why !== "corrupt" && next.why !== "oversize") return next;
    const damaged = segmentNumber(basename(next.path));
    if (damaged === null) return next;
    next = inspectJournal(fs, { directory, kinds, upTo: damaged - 1 });
  }
  return first;
}

interface Evidence {
  readonly segment: number;
  readonly path: string;
  readonly sha256: string;
  readonly owner: JournalOwner | null;
  /** A claim above, without a byte of its own: evidence of nothing, and nobody's. */
  readonly isBlank: boolean;
}

function readEvidence(fs: FileSystem, directory: string, segment: number): Evidence | "lost" | Refusal {
  const path = join(directory, segmentName(segment));
  try {
    const { start, ...read } = withFile(fs, path, (fd) => readThrough(fs, fd));
    return { segment, path, ...read, owner: ownerIn(start) };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "lost";
    if (errnoOf(error) === null) throw error;
    return refuse("unreadable", path, reasonOf(error));
  }
}

function withFile<T>(fs: FileSystem, path: string, use: (fd: number) => T): T {
  const fd = fs.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return use(fd);
  } finally {
    fs.close(fd);
  }
}

/** A file too large to be a segment is read in pieces of this size. */
const PIECE_BYTES = 1024 * 1024;
const BLANK_PIECE = Buffer.alloc(PIECE_BYTES, LF);

/** Reads a whole file, and copies it if there is a target. */
function readThrough(
  fs: FileSystem,
  fd: number,
  target: number | null = null,
): { readonly sha256: string; readonly start: Buffer; readonly isBlank: boolean } {
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let start: Buffer | null = null;
  let isBlank = true;
  for (let at = 0; ;) {
    const count = fs.read(fd, piece, 0, piece.length, at);
    start ??= Buffer.from(piece.subarray(0, count));
    if (count === 0) return { sha256: hash.digest("hex"), start, isBlank };
    isBlank &&= piece.subarray(0, count).equals(BLANK_PIECE.subarray(0, count));
    hash.update(piece.subarray(0, count));
    if (target !== null) writeAll(fs, target, piece.subarray(0, count), at);
    at += count;
  }
}

function ownerIn(start: Uint8Array): JournalOwner | null {
  const line = decodeLine(start.subarray(0, Math.max(start.indexOf(LF), 0)), HEAD_SEED);
  const head = line === null ? null : parseHead(line);
  return head === null || "unsupported" in head ? null : head.owner;
}

function isStanding<Kind extends string>(
  { owner: own, probeOwner }: QuarantineOptions<Kind>,
  owner: JournalOwner | null,
): boolean {
  return owner?.generation !== own.generation && probeOwner(owner) !== "gone";
}

interface Place {
  readonly fs: FileSystem;
  readonly names: JournalNames;
  readonly evidence: readonly Evidence[];
}

/** Evidence first, then the segment that names it, each durable; what it stands for goes last. */
function publish<Kind extends string>(
  options: QuarantineOptions<Kind>,
  { fs, names, evidence }: Place,
): QuarantineResult<Kind> | "lost" {
  const { directory, owner, seen, newSalt } = options;
  const damaged = evidence.find(({ path }) => path === seen.path);
  const kept = names.evidence.map((name) => evidenceSegment(name) ?? 0);
  // The very next number, where one stands: a writer that lives looks for that one, and for no other, to find itself replaced.
  const segment = Math.max(0, ...(names.segments.length > 0 ? names.segments : kept)) + 1;
  const quarantine: Quarantine = {
    id: `q${String(segment).padStart(8, "0")}`,
    evidence: damaged === undefined ? null : evidenceName(damaged.segment, damaged.sha256),
    sha256: seen.sha256,
    why: seen.why,
    reason: options.reason,
    at: (options.now ?? Date.now)(),
  };
  if (Buffer.byteLength(JSON.stringify(quarantine)) > RECORD_MAX_BYTES) {
    throw journalError("record_too_large", "the reason is too long");
  }
  const state = emptyState();
  state.quarantines.set(quarantine.id, quarantine);
  const image = buildImage({
    segment,
    owner,
    state,
    pendingBytes: 0,
    pendingOperations: 0,
    isShrinking: false,
    newSalt,
  });
  if (image === null) throw journalError("journal_full", "the record exceeds a segment");

  try {
    const copied = evidence.filter(({ isBlank }) => !isBlank);
    checkRoom(directory, { evidence: copied, names });
    for (const item of copied) if (!keep(fs, directory, item, item.sha256)) return "lost";
    if (publishFile(fs, join(directory, segmentName(segment)), image.bytes).kind === "exists") return "lost";
    if (isOvertaken({ fs, directory }, segment)) {
      removeOvertaken({ fs, directory }, segment);
      return "lost";
    }
  } catch (error) {
    // A segment was retired, or the temporary name swept away, by someone else's opening.
    if (systemErrnoOf(error) === "ENOENT") return "lost";
    throw error;
  }
  for (const item of evidence) keepLater(fs, directory, item);
  // Only what is kept: a segment that came since has a higher number, and there is none, as this one got its name. The oldest
  // first, as in a claim: a paused writer that finds its own must find the one above.
  for (const path of [
    ...evidence.toSorted((left, right) => left.segment - right.segment).map((item) => item.path),
    ...names.temporaries.map((name) => join(directory, name)),
  ]) {
    removeFile(fs, path);
  }
  syncDirectory(fs, directory);
  return { kind: "quarantined", quarantine };
}

function checkRoom(directory: string, { evidence, names }: Pick<Place, "evidence" | "names">): void {
  const all = new Set([...names.evidence, ...evidence.map(({ segment, sha256 }) => evidenceName(segment, sha256))]);
  if (all.size <= EVIDENCE_MAX) return;
  throw new CodedError("quarantine_full", `${directory} has evidence of too many quarantines`, {
    data: { path: directory, count: names.evidence.length },
  });
}

/**
 * Copies a segment's bytes under their evidence name: whoever has the segment open writes to another file. `false`: they are not,
 * or are no longer, those of this digest; `null` takes any.
 */
function keep(fs: FileSystem, directory: string, { path, segment }: Evidence, expected: string | null): boolean {
  const temporary = temporaryName(path);
  try {
    const fd = createExclusive(fs, temporary);
    let sha256: string;
    try {
      ({ sha256 } = withFile(fs, path, (source) => readThrough(fs, source, fd)));
      if (expected !== null && sha256 !== expected) return false;
      fs.fsync(fd);
    } finally {
      fs.close(fd);
    }
    const target = join(directory, evidenceName(segment, sha256));
    if (!linkOnce(fs, temporary, target) && digestOf(target, fs) !== sha256) {
      throw new CodedError("evidence_exists", `${target} is another file`, { data: { path: target } });
    }
  } finally {
    discardTemporary(fs, temporary);
  }
  syncDirectory(fs, directory);
  return true;
}

/** Once the segment above stands nothing more is acknowledged on this one: keeps what was since its copy, by a writer that lives. */
function keepLater(fs: FileSystem, directory: string, item: Evidence): void {
  try {
    if (digestOf(item.path, fs) === item.sha256) return;
    keep(fs, directory, item, null);
  } catch (error) {
    // The next opener has removed it.
    if (systemErrnoOf(error) !== "ENOENT") throw error;
  }
}
