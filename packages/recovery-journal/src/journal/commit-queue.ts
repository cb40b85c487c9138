import { type Clock, type CodedError, invariant, reasonOf } from "@holdfast/shared-process";
import { join } from "node:path";
import { isNotPublished } from "../durable/outcome.ts";
import { publishFile } from "../durable/publish-file.ts";
import { removeFile } from "../durable/small-files.ts";
import { syncDirectory } from "../durable/sync-directory.ts";
import { isDiskFull } from "../durable/write-all.ts";
import { CAPACITY_MAX_BYTES, CAPACITY_MIN_BYTES, segmentName } from "../format.ts";
import type { LiveRecord } from "../format/records.ts";
import type { Journal, JournalEngine, JournalOwner } from "../types.ts";
import { batchBytes, beginnings, countWithin, endings, isEnding, isRelease, type PendingRecord } from "./batch.ts";
import { isOvertaken, removeOvertaken } from "./claim.ts";
import { diskFull, journalError } from "./errors.ts";
import { forgetToFit } from "./remember.ts";
import { RestTimer } from "./rest-timer.ts";
import { SegmentFile, type SegmentPlace } from "./segment-file.ts";
import { buildImage, nextCapacity, reserveFor } from "./segment-image.ts";
import type { JournalState } from "./state.ts";

export interface CommitQueueOptions {
  readonly place: SegmentPlace;
  readonly file: SegmentFile;
  readonly state: JournalState;
  readonly owner: JournalOwner;
  readonly engine: JournalEngine;
  readonly clock: Pick<Clock, "monotonic" | "setTimer">;
  /** Called in order for each record of a batch that is durable, before any of the batch settles. */
  readonly apply: (record: LiveRecord) => void;
}

export type QueueState = Journal["state"];

/** Bytes of one batch: what waits behind it is taken with the next. */
const BATCH_MAX_BYTES = 1024 * 1024;

/**
 * Group commit: what is appended in one turn goes out in one write and one flush, with one batch outstanding. A failed write or
 * flush poisons (the kernel marks the pages clean after a failed flush, so a second one proves nothing).
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  readonly #rest: RestTimer;
  #file: SegmentFile;
  /** By the monotonic clock. */
  #fileSinceMs: number;
  #state: QueueState = "live";
  #cause: unknown = undefined;
  #waiting: PendingRecord[] = [];
  #turn: "idle" | "scheduled" | "flushing" = "idle";
  /** A write was cut off by a full disk: the rest of the segment is not to be written, a new one is due. */
  #spoiled = false;
  #marked = true;
  #flushes = 0;
  #records = 0;
  #compactions = 0;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
    this.#rest = new RestTimer(options.clock, { mark: () => this.#restMarked(), shrink: () => this.#shrink() });
    this.#file = options.file;
    this.#fileSinceMs = options.clock.monotonic();
  }

  get state(): QueueState {
    return this.#state;
  }

  get counters(): { flushes: number; records: number; compactions: number } {
    return { flushes: this.#flushes, records: this.#records, compactions: this.#compactions };
  }

  append(pending: PendingRecord): void {
    if (this.#state !== "live") {
      pending.reject(this.#refusal());
      return;
    }
    this.#waiting.push(pending);
    if (this.#turn === "idle") {
      this.#turn = "scheduled";
      queueMicrotask(() => this.#flush());
    }
  }

  /** Gives the descriptor back, once the last record was taken or refused. */
  close(): void {
    if (this.#state !== "live") return;
    invariant(this.#turn === "idle", "nothing is under way behind the last record");
    this.#mark();
    this.#stop("closed", undefined);
  }

  /** Whatever goes wrong poisons: a record that waits is rejected, and none waits for ever. */
  #flush(): void {
    this.#turn = "flushing";
    const candidates = this.#waiting.splice(0, countWithin(this.#waiting, BATCH_MAX_BYTES));
    try {
      const batch = this.#admit(candidates);
      if (batch.length === 0) this.#next();
      else if (this.#write(batch)) this.#sync(batch);
    } catch (error) {
      this.#stop("poisoned", error, candidates);
    }
  }

  #write(batch: readonly PendingRecord[]): boolean {
    try {
      this.#file.write(batch);
      return true;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      // A full disk under an in-place write (copy on write) leaves a part of the batch, which is refused: it is taken back, and
      // the rest of the segment is not used.
      this.#file.blank(batch);
      this.#spoiled = true;
      for (const { reject } of batch) reject(diskFull(this.#file.path, error));
      this.#next();
      return false;
    }
  }

  /** An error of the flush says nothing: the batch is written, and may be found there. */
  #sync(batch: readonly PendingRecord[]): void {
    const { engine, place } = this.#options;
    if (engine === "inline") {
      place.fs.fdatasync(this.#file.fd);
      this.#flushed(batch);
      return;
    }
    place.fs
      .fdatasyncAsync(this.#file.fd, engine)
      .then(() => this.#flushed(batch))
      .catch((error: unknown) => void this.#stop("poisoned", error, batch));
  }

  #flushed(batch: readonly PendingRecord[]): void {
    // After the flush and before any acknowledgement: whoever claims next reads all that was acknowledged.
    if (!this.#file.isOwned()) {
      this.#stop("fenced", undefined, batch);
      return;
    }
    this.#flushes += 1;
    this.#records += batch.length;
    for (const { record } of batch) this.#options.apply(record);
    this.#marked = false;
    for (const { settle } of batch) settle();
    this.#next();
  }

  #next(): void {
    this.#turn = "idle";
    if (this.#state !== "live") return;
    if (this.#waiting.length === 0) {
      this.#rest.begin();
      return;
    }
    this.#turn = "scheduled";
    queueMicrotask(() => this.#flush());
  }

  get #isAtRest(): boolean {
    return this.#state === "live" && this.#turn === "idle";
  }

  #restMarked(): boolean {
    if (!this.#isAtRest) return false;
    this.#mark();
    return this.#file.capacity > CAPACITY_MIN_BYTES;
  }

  #mark(): void {
    if (!this.#marked && !this.#spoiled) this.#file.mark();
    this.#marked = true;
  }

  #shrink(): void {
    if (!this.#isAtRest) return;
    try {
      this.#compact([], "rest");
    } catch (error) {
      this.#stop("poisoned", error);
    }
  }

  /** Those of the candidates for which there is room; the others are rejected. */
  #admit(candidates: readonly PendingRecord[]): readonly PendingRecord[] {
    const problem = this.#state === "live" ? this.#prepare(candidates) : null;
    if (this.#state !== "live") {
      for (const { reject } of candidates) reject(this.#refusal());
      return [];
    }
    if (problem === null) return candidates;
    const ends = candidates.filter(isEnding);
    for (const candidate of candidates) if (!isEnding(candidate)) candidate.reject(problem);
    // A segment may be as large for ends alone as none may be for what they came with.
    return ends.length < candidates.length ? this.#admit(ends) : this.#keepEnds(ends, problem);
  }

  /** Makes a new segment if one is needed; `null`: the batch can be written. */
  #prepare(candidates: readonly PendingRecord[]): CodedError | null {
    if (this.#spoiled || !this.#fits(candidates)) return this.#compact(candidates, "room");
    // Whether or not that is done, there is room for the batch where it is.
    if (this.#isTooLargeToRest(candidates)) this.#compact(candidates, "rest");
    return null;
  }

  /** Without a new segment only ends and the release go on, each into the room kept for it (I168). */
  #keepEnds(candidates: readonly PendingRecord[], problem: CodedError): readonly PendingRecord[] {
    const kept: PendingRecord[] = [];
    for (const candidate of candidates) {
      if (!this.#spoiled && this.#fits([...kept, candidate])) kept.push(candidate);
      else candidate.reject(problem);
    }
    return kept;
  }

  /** Whether there is room for the batch beside what is kept for the ends and the release that are still to come. */
  #fits(batch: readonly PendingRecord[]): boolean {
    if (this.#file.capacity > CAPACITY_MAX_BYTES && !batch.every(isEnding)) return false;
    const open = this.#options.state.open.size + beginnings(batch) - endings(batch);
    return batchBytes(batch) <= this.#file.room(batch.some(isRelease) ? 0 : reserveFor(open));
  }

  /** A journal that is closed keeps no more than its state needs. */
  #isTooLargeToRest(batch: readonly PendingRecord[]): boolean {
    return batch.some(isRelease) && this.#file.capacity > CAPACITY_MIN_BYTES;
  }

  /**
   * Publishes the state as the next segment and goes on there; `null` when done, or when one to rest in would be no
   * smaller. A full disk or a state too large leaves the current segment in use, and so does any failure of a segment to rest
   * in. Once the name may be there, every error poisons: no record may be acknowledged that only one of two has.
   */
  #compact(pending: readonly PendingRecord[], purpose: "room" | "rest"): CodedError | null {
    const { place, state, owner, clock } = this.#options;
    const nowMs = clock.monotonic();
    forgetToFit(state);
    const image = buildImage({
      segment: this.#file.segment + 1,
      owner,
      state,
      pendingBytes: batchBytes(pending),
      pendingOperations: beginnings(pending),
      isShrinking: pending.every(isEnding),
      newSalt: place.newSalt,
      leastBytes: purpose === "room" ? nextCapacity(this.#file.capacity, nowMs - this.#fileSinceMs) : 0,
    });
    if (image === null) return journalError("journal_full", "the journal is full");
    if (purpose === "rest" && image.bytes.length >= this.#file.capacity) return null;
    const path = join(place.directory, segmentName(image.segment));
    try {
      if (publishFile(place.fs, path, image.bytes).kind === "exists") return this.#stop("fenced", undefined);
      const file = SegmentFile.open(place, image);
      const retired = this.#file;
      this.#file = file;
      retired.close();
      removeFile(place.fs, retired.path);
      syncDirectory(place.fs, place.directory);
      if (isOvertaken(place, file.segment)) {
        removeOvertaken(place, file.segment);
        return this.#stop("fenced", undefined);
      }
    } catch (error) {
      if (isNotPublished(error) && purpose === "rest") return null;
      if (isNotPublished(error) && isDiskFull(error)) return diskFull(path, error);
      return this.#stop("poisoned", error);
    }
    this.#spoiled = false;
    this.#marked = true;
    this.#fileSinceMs = nowMs;
    this.#compactions += 1;
    return null;
  }

  #stop(state: Exclude<QueueState, "live">, cause: unknown, batch: readonly PendingRecord[] = []): CodedError {
    this.#state = state;
    this.#cause = cause;
    this.#rest.stop();
    try {
      this.#file.close();
    } catch {
      // The descriptor is given up either way, and the journal's state already says all that matters.
    }
    for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(this.#refusal());
    return this.#refusal();
  }

  #refusal(): CodedError {
    if (this.#state === "closed") return journalError("journal_closed", "the journal is closed");
    if (this.#state === "fenced") return journalError("journal_fenced", "the journal has another owner");
    return journalError("journal_poisoned", `a write of the journal failed: ${reasonOf(this.#cause)}`, this.#cause);
  }
}
