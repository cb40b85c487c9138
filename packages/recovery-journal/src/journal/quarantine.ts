import { systemErrnoOf } from "../durable/outcome.ts";
import { publishFile } from "../durable/publish-file.ts";
import { removeFile } from "../durable/small-files.ts";
import { syncDirectory } from "../durable/sync-directory.ts";
import type { FileSystem } from "../file-system.ts";
import { evidenceName, evidenceSegment, RECORD_MAX_BYTES, segmentName, segmentNumber } from "../format.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import type { JournalOwner, JournalReport, OpenJournalOptions, Quarantine } from "../types.ts";
import { basename, join } from "node:path";
import { untilNotLost } from "./attempts.ts";
import { isOvertaken, prepareDirectory, removeOvertaken } from "./claim.ts";
import { journalError } from "./errors.ts";
import { checkRoom, type Evidence, keep, keepLater, readEvidence } from "./evidence.ts";
import { type Inspection, inspectJournal, type InspectTarget, type JournalNames, listNames } from "./inspect.ts";
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
    checkRoom(directory, names.evidence, copied);
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
