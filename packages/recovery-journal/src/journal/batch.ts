import type { CodedError } from "@holdfast/shared-process";
import type { LiveRecord } from "../format/records.ts";

export interface BatchRecord {
  readonly json: string;
  /** An upper bound of its line's bytes. */
  readonly bytes: number;
}

export interface PendingRecord extends BatchRecord {
  readonly record: LiveRecord;
  /** The record is on disk and in the state. */
  readonly settle: () => void;
  readonly reject: (error: CodedError) => void;
}

/** An upper bound of the bytes that a batch takes. */
export function batchBytes(records: readonly BatchRecord[]): number {
  return records.reduce((sum, { bytes }) => sum + bytes, 0);
}

export function isEnding({ record }: PendingRecord): boolean {
  return record.t === "end" || record.t === "release";
}

export function isRelease({ record }: PendingRecord): boolean {
  return record.t === "release";
}

/** How many operations the batch begins. */
export function beginnings(batch: readonly PendingRecord[]): number {
  return batch.reduce((sum, { record }) => sum + (record.t === "begin" ? record.ops.length : 0), 0);
}

/** How many operations the batch ends. */
export function endings(batch: readonly PendingRecord[]): number {
  return batch.filter(({ record }) => record.t === "end").length;
}

/** How many records from the front make a batch of at most `limit` bytes; at least one. */
export function countWithin(waiting: readonly BatchRecord[], limit: number): number {
  let sum = 0;
  const count = waiting.findIndex(({ bytes }, index) => {
    sum += bytes;
    return sum > limit && index > 0;
  });
  return count === -1 ? waiting.length : count;
}
