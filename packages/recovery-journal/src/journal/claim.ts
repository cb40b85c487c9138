import { errnoOf, invariant } from "@holdfast/shared-process";
import { constants } from "node:fs";
import { dirname, join } from "node:path";
import { systemErrnoOf } from "../durable/outcome.ts";
import { ensurePrivateDirectory } from "../durable/private-directory.ts";
import { publishFile } from "../durable/publish-file.ts";
import { removeFile } from "../durable/small-files.ts";
import { syncDirectory } from "../durable/sync-directory.ts";
import { createExclusive, discardTemporary, temporaryName } from "../durable/temporary-file.ts";
import { writeAll } from "../durable/write-all.ts";
import { evidenceSegment, segmentName } from "../format.ts";
import { LF } from "../format/line.ts";
import type { JournalOwner } from "../types.ts";
import { highestSegment, type Inspection, inspectJournal, listNames, type Refusal } from "./inspect.ts";
import { forgetToFit } from "./remember.ts";
import { SegmentFile, type SegmentPlace } from "./segment-file.ts";
import { buildImage, type ImageRequest, type SegmentImage } from "./segment-image.ts";
import { emptyState, type JournalState } from "./state.ts";

export interface ClaimRequest extends SegmentPlace {
  readonly owner: JournalOwner;
  readonly kinds: readonly string[];
}

export type Whole = Extract<Inspection, { kind: "whole" }>;
export type Claim =
  | { readonly kind: "claimed"; readonly file: SegmentFile; readonly base: Whole }
  /** Someone else claimed meanwhile: look again. */
  | { readonly kind: "lost" }
  | { readonly kind: "too-large" }
  | Refusal;

/** The directory of a journal that there is not. */
export function prepareDirectory({ fs, directory }: SegmentPlace): void {
  ensurePrivateDirectory(fs, directory);
  // Also where it was there: whoever made it may have failed before its name was durable.
  syncDirectory(fs, dirname(directory));
}

/** Publishes the first segment of a directory without any; `null` when someone else did. Whole at birth (I100). */
export function createFirst(request: ClaimRequest): SegmentFile | null {
  const { fs, directory } = request;
  try {
    const names = listNames(fs, directory);
    if (names.segments.length > 0) return null;
    // A number that evidence has is not used again: a writer that was paused would find its own segment.
    const segment = Math.max(0, ...names.evidence.map((name) => evidenceSegment(name) ?? 0)) + 1;
    const image = buildImage(imageRequest(request, segment, emptyState()));
    invariant(image !== null, "there is room for an owner");
    if (publishFile(fs, join(directory, segmentName(segment)), image.bytes).kind === "exists") return null;
    // Others may have had this number and more, and retired them, before.
    if (!isOvertaken(request, segment)) return SegmentFile.open(request, image);
    removeOvertaken(request, segment);
    return null;
  } catch (error) {
    // The winner of a race swept the temporary name away, or has taken over what was published here.
    if (systemErrnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

/**
 * Takes over a journal. The claim comes before the read of what it takes over: the old writer, should it live, finds the claim
 * before its next acknowledgement, so all that it acknowledged is in what is read here. From the first written byte on
 * the claim is never removed again: it may hold a seal that somebody built upon.
 */
export function claimNext(request: ClaimRequest, seen: Whole): Claim {
  const { fs, directory, kinds } = request;
  // The names that are relied on must be durable before anything is built on them.
  syncDirectory(fs, directory);
  const segment = Math.max(...seen.names.segments) + 1;
  forgetToFit(seen.state);
  const estimate = buildImage(imageRequest(request, segment, seen.state));
  if (estimate === null) return { kind: "too-large" };
  const fd = linkClaim(request, estimate);
  if (fd === null) return { kind: "lost" };
  try {
    const base = inspectJournal(fs, { directory, kinds, below: segment });
    if (base.kind === "refused") {
      // The claim stays, empty as it is: somebody above it may have read what was refused here, and the old writer must find that.
      fs.close(fd);
      return base;
    }
    if (base.kind === "whole") forgetToFit(base.state);
    const image = base.kind === "whole" ? buildImage(imageRequest(request, segment, base.state)) : null;
    if (base.kind === "fresh" || base.segment !== seen.segment || image === null || isOvertaken(request, segment)) {
      fs.close(fd);
      return { kind: "lost" };
    }
    writeClaim(request, fd, image);
    if (isOvertaken(request, segment)) {
      fs.close(fd);
      return { kind: "lost" };
    }
    retireBelow(request, segment);
    return { kind: "claimed", file: new SegmentFile(request, image, fd), base };
  } catch (error) {
    fs.close(fd);
    throw error;
  }
}

function imageRequest(request: ClaimRequest, segment: number, state: JournalState): ImageRequest {
  const { owner, newSalt } = request;
  return { segment, owner, state, pendingBytes: 0, pendingOperations: 0, isShrinking: true, newSalt };
}

/** Allocates the claim's blocks before it has its name: a disk that is full then leaves no trace. `null`: someone has the name. */
function linkClaim(request: ClaimRequest, estimate: SegmentImage): number | null {
  const { fs, directory } = request;
  const path = join(directory, segmentName(estimate.segment));
  const temporary = temporaryName(path);
  let fd: number | null = null;
  try {
    fd = createExclusive(fs, temporary);
    writeAll(fs, fd, Buffer.alloc(estimate.bytes.length, LF), 0);
    fs.link(temporary, path);
    // By this name: the owner asks later whether the file still has it. It may be another one's by now.
    const named = fs.open(path, constants.O_RDWR | constants.O_NOFOLLOW);
    const isOwn = fs.fstat(named).ino === fs.fstat(fd).ino;
    fs.close(isOwn ? fd : named);
    if (isOwn) return named;
    fs.close(fd);
    return null;
  } catch (error) {
    if (fd !== null) fs.close(fd);
    // ENOENT: the winner of a race swept the temporary name away.
    if (errnoOf(error) === "EEXIST" || errnoOf(error) === "ENOENT") return null;
    throw error;
  } finally {
    discardTemporary(fs, temporary);
  }
}

function writeClaim(request: ClaimRequest, fd: number, image: SegmentImage): void {
  writeAll(request.fs, fd, image.bytes, 0);
  request.fs.ftruncate(fd, image.bytes.length);
  request.fs.fsync(fd);
  syncDirectory(request.fs, request.directory);
}

/** Whether a later segment stands than the caller's new one: its number may have been had, and retired, by others. */
export function isOvertaken({ fs, directory }: SegmentPlace, segment: number): boolean {
  return highestSegment(fs, directory) !== segment;
}

/**
 * Takes back a new segment that has come to stand below others: readers would fall back to it, should they be damaged. Only
 * below a whole one, which is made durable first: an unfinished claim may be about to build on this one, and retires it.
 */
export function removeOvertaken({ fs, directory }: SegmentPlace, segment: number): void {
  const found = inspectJournal(fs, { directory, kinds: "any" });
  if (found.kind !== "whole" || found.segment <= segment) return;
  const fd = fs.open(join(directory, segmentName(found.segment)), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    fs.fsync(fd);
  } finally {
    fs.close(fd);
  }
  syncDirectory(fs, directory);
  removeFile(fs, join(directory, segmentName(segment)), { sync: true });
}

/**
 * Removes what the new segment replaces. Only then may it acknowledge anything: an older one that stands proves that it did
 * not. The oldest goes first, since a paused writer that finds its own segment and no next one takes itself for the owner.
 */
function retireBelow(place: SegmentPlace, segment: number): void {
  const { fs, directory } = place;
  const { segments, temporaries } = listNames(fs, directory);
  const older = segments.filter((candidate) => candidate < segment).toReversed();
  for (const name of [...older.map(segmentName), ...temporaries]) removeFile(fs, join(directory, name));
  syncDirectory(fs, directory);
}
