import { invariant } from "@holdfast/shared-process";
import { randomBytes } from "node:crypto";
import {
  CAPACITY_BUSY_MAX_BYTES,
  CAPACITY_MAX_BYTES,
  CAPACITY_MIN_BYTES,
  END_RESERVE_BYTES,
  FORMAT_VERSION,
  READER_SEGMENT_MAX_BYTES,
  RELEASE_RESERVE_BYTES,
} from "../format.ts";
import { encodeLine, encodeMark, encodeRecord, HEAD_SEED, LF } from "../format/line.ts";
import { type Head, parseHead, parseRecord } from "../format/records.ts";
import type { JournalOwner } from "../types.ts";
import { type JournalState, snapshotRecords } from "./state.ts";

/** A segment as it is born: whole, sealed and filled to its capacity. */
export interface SegmentImage {
  readonly bytes: Buffer;
  readonly segment: number;
  readonly seed: number;
  /** Where the first batch goes; the mark there is overwritten. */
  readonly offset: number;
  readonly sequence: number;
}

export interface ImageRequest {
  readonly segment: number;
  readonly owner: JournalOwner;
  readonly state: JournalState;
  /** Bytes that are about to be appended. */
  readonly pendingBytes: number;
  /** Operations that are about to begin. */
  readonly pendingOperations: number;
  readonly newSalt?: (() => string) | undefined;
  /** The capacity, where what is needed asks for less. */
  readonly leastBytes?: number;
  /** Nothing is about to come but ends: the segment may then be as large as its reader allows. */
  readonly isShrinking: boolean;
}

/**
 * A new segment's bytes for a state; `null` when the largest segment has no room for it and what is about to come. A state
 * that only shrinks always has room: a segment of at most `CAPACITY_MAX_BYTES` holds every record whole, and a snapshot of them
 * has less than twice its bytes (a request's id is in two lines), with at most `REMEMBERED_MAX_BYTES` of outcomes to come.
 */
export function buildImage(request: ImageRequest): SegmentImage | null {
  const salt = request.newSalt?.() ?? randomBytes(4).toString("hex");
  const seed = Number.parseInt(salt, 16);
  let sequence = 0;
  const lines = snapshotRecords(request.state).map((record) => {
    invariant(parseRecord({ ...record }) !== null, "a record of a snapshot can be read back");
    sequence += 1;
    return encodeRecord(JSON.stringify(record), { sequence, durable: 0 }, seed);
  });
  const body = Buffer.concat(lines);
  const operations = request.state.open.size + request.pendingOperations;
  const headBytes = Buffer.byteLength(JSON.stringify(request.owner)) + HEAD_OVERHEAD_BYTES;
  const needed = headBytes + body.length + request.pendingBytes + reserveFor(operations);
  const largest = request.isShrinking ? READER_SEGMENT_MAX_BYTES : CAPACITY_MAX_BYTES;
  if (needed + COMPACTION_ROOM_BYTES > largest) return null;
  const capacity = Math.max(capacityFor(needed), request.leastBytes ?? 0);

  const head: Head = {
    t: "head",
    v: FORMAT_VERSION,
    n: request.segment,
    e: salt,
    cap: capacity,
    owner: request.owner,
  };
  invariant(parseHead({ ...head }) !== null, "a head can be read back");
  const start = Buffer.concat([encodeLine(JSON.stringify(head), HEAD_SEED), body]);
  const bytes = Buffer.alloc(capacity, LF);
  bytes.set(start, 0);
  bytes.set(encodeMark(sequence, seed), start.length);
  return { bytes, segment: request.segment, seed, offset: start.length, sequence };
}

/** Room that begins leave for the ends of all open work and for the release. */
export function reserveFor(openOperations: number): number {
  return openOperations * END_RESERVE_BYTES + RELEASE_RESERVE_BYTES;
}

/** What the head holds beside its owner, at most. */
const HEAD_OVERHEAD_BYTES = 192;

/**
 * The capacity of the segment behind one that filled up in `filledMs`: twice as large under load, where new segments would
 * take a large share of the time, and half as large without.
 */
export function nextCapacity(capacity: number, filledMs: number): number {
  return Math.min(filledMs < BUSY_FILL_MS ? 2 * capacity : capacity / 2, CAPACITY_BUSY_MAX_BYTES);
}

/** A new segment takes a few milliseconds: of a second, too little to matter. */
const BUSY_FILL_MS = 1_000;

/**
 * At least twice what is needed, so that compaction costs a constant share of what was appended (I111), up to the largest
 * segment; beyond it, with some room.
 */
function capacityFor(needed: number): number {
  let capacity = CAPACITY_MIN_BYTES;
  while (capacity < 2 * needed && capacity < CAPACITY_MAX_BYTES) capacity *= 2;
  return capacity < 2 * needed ? Math.max(capacity, needed + COMPACTION_ROOM_BYTES) : capacity;
}

/** What a new segment has at least for records to come: a journal near its limit does not make one for each of them. */
const COMPACTION_ROOM_BYTES = CAPACITY_MAX_BYTES / 16;
