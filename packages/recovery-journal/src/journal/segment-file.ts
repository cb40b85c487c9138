import { errnoOf } from "@holdfast/shared-process";
import { constants } from "node:fs";
import { join } from "node:path";
import { writeAll } from "../durable/write-all.ts";
import type { FileSystem } from "../file-system.ts";
import { segmentName } from "../format.ts";
import { encodeMark, LF, putRecord } from "../format/line.ts";
import { batchBytes, type BatchRecord } from "./batch.ts";
import type { SegmentImage } from "./segment-image.ts";

export interface SegmentPlace {
  readonly fs: FileSystem;
  readonly directory: string;
  /** The salt of a new segment, 8 hex digits; random without it. */
  readonly newSalt?: () => string;
}

/** The live segment as its one writer sees it: where the next batch goes and which sequence it has. */
export class SegmentFile {
  readonly segment: number;
  readonly fd: number;
  readonly path: string;
  readonly capacity: number;
  readonly #nextPath: string;
  readonly #place: SegmentPlace;
  readonly #seed: number;
  #offset: number;
  #sequence: number;

  constructor(place: SegmentPlace, image: SegmentImage, fd: number) {
    this.#place = place;
    this.segment = image.segment;
    this.fd = fd;
    this.path = join(place.directory, segmentName(image.segment));
    this.#nextPath = join(place.directory, segmentName(image.segment + 1));
    this.#seed = image.seed;
    this.capacity = image.bytes.length;
    this.#offset = image.offset;
    this.#sequence = image.sequence;
  }

  /** Opens a segment that was published whole. */
  static open(place: SegmentPlace, image: SegmentImage): SegmentFile {
    const path = join(place.directory, segmentName(image.segment));
    return new SegmentFile(place, image, place.fs.open(path, constants.O_RDWR | constants.O_NOFOLLOW));
  }

  /** Bytes of room left, of which `reserve` are not to be touched. */
  room(reserve: number): number {
    return this.capacity - this.#offset - reserve;
  }

  /** Writes a batch with one write. It counts only when it was flushed. */
  write(records: readonly BatchRecord[]): void {
    const durable = this.#sequence;
    const lines = Buffer.allocUnsafe(batchBytes(records));
    let [sequence, end] = [durable, 0];
    for (const { json: recordJson } of records) {
      sequence += 1;
      end = putRecord(lines, { start: end, recordJson, place: { sequence, durable }, seed: this.#seed });
    }
    writeAll(this.#place.fs, this.fd, lines.subarray(0, end), this.#offset);
    this.#offset += end;
    this.#sequence = sequence;
  }

  /**
   * Takes back, durably, what a write that a full disk cut off has left: its whole records would be found by the next owner,
   * though refused. Throws when that is not certain.
   */
  blank(records: readonly BatchRecord[]): void {
    try {
      writeAll(this.#place.fs, this.fd, Buffer.alloc(batchBytes(records), LF), this.#offset);
    } catch (error) {
      // A limit of size is at one place for both writes; a disk that was full for the second may have taken more of the first.
      if (errnoOf(error) !== "EFBIG") throw error;
    }
    this.#place.fs.fdatasync(this.fd);
  }

  /** Says, after a flush and unsynced, that all is durable: damage to the last batch is then told from a torn one. */
  mark(): void {
    const bytes = encodeMark(this.#sequence, this.#seed);
    if (bytes.length > this.room(0)) return;
    try {
      writeAll(this.#place.fs, this.fd, bytes, this.#offset);
    } catch {
      // The mark only sharpens the verdict on damage; the next batch overwrites its place and meets a lasting error itself.
    }
  }

  /**
   * Whether this writer is still the owner: no later segment stands, and then its own still does. In this order: a later
   * one that is gone was retired by one later still, after this writer's own. Its very own: the number may have been had again
   * by somebody who was paused.
   */
  isOwned(): boolean {
    const { fs } = this.#place;
    return !fs.exists(this.#nextPath, "absent") && fs.hasName(this.fd, this.path);
  }

  close(): void {
    this.#place.fs.close(this.fd);
  }
}
