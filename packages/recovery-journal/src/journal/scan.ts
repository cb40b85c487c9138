import { decodeLine, HEAD_SEED, LF, parseObject } from "../format/line.ts";
import { type Head, type LiveRecord, parseHead, parseRecord, type SnapshotRecord } from "../format/records.ts";
import { applyRecord, emptyState, type JournalState } from "./state.ts";

/** What the bytes of one segment say. */
export type SegmentScan =
  | { readonly kind: "whole"; readonly head: Head; readonly state: JournalState; readonly tornBytes: number }
  /** No whole segment and no sign of work in it: a claim that was not finished, if a lower segment stands. */
  | { readonly kind: "unfinished"; readonly head: Head | null; readonly offset: number }
  | { readonly kind: "corrupt"; readonly offset: number; readonly message: string }
  | { readonly kind: "unsupported"; readonly version: number };

export interface ScanTarget {
  /** Its number by its name; `null` for a file whose name says none. */
  readonly segment: number | null;
  /** The closed set of operation kinds; `any` for a reader that does not know it. */
  readonly kinds: readonly string[] | "any";
}

/**
 * Reads a segment: pure, never throws on any bytes. The head, the snapshot up to its seal, then records one by one until the
 * first line that is not the next record; what follows it decides between a torn tail and corruption (see `format.ts`).
 */
export function scanSegment(bytes: Uint8Array, target: ScanTarget): SegmentScan {
  const headEnd = bytes.indexOf(LF);
  const first = decodeLine(bytes.subarray(0, Math.max(headEnd, 0)), HEAD_SEED);
  const head = first === null ? null : parseHead(first);
  if (head !== null && "unsupported" in head) return { kind: "unsupported", version: head.v };
  if (head === null) return withoutSnapshot(bytes, { head, offset: 0 });
  if (target.segment !== null && head.n !== target.segment) return corrupt(0, `the head is of segment ${head.n}`);

  const seed = Number.parseInt(head.e, 16);
  const walk: Walk = { bytes, head, seed, state: emptyState(), at: headEnd + 1, sequence: 0, durable: 0, seal: null };
  return walkRecords(walk, target);
}

interface Walk {
  readonly bytes: Uint8Array;
  readonly head: Head;
  readonly seed: number;
  readonly state: JournalState;
  /** Where the next line begins. */
  at: number;
  /** The last record's sequence and watermark. */
  sequence: number;
  durable: number;
  /** The seal's sequence, once it was read. */
  seal: number | null;
}

type Corrupt = Extract<SegmentScan, { kind: "corrupt" }>;

function walkRecords(walk: Walk, target: ScanTarget): SegmentScan {
  for (;;) {
    const step = nextRecord(walk, target);
    if (step === "none") break;
    if (step !== "record") return step;
    const mark = walk.seal === null ? "none" : takeMark(walk);
    if (mark === "ahead") return corrupt(walk.at, "a mark covers records that are missing");
    if (mark === "marked") return judgeTail(walk, true);
  }
  if (walk.seal === null) return withoutSnapshot(walk.bytes, { head: walk.head, offset: walk.at });
  return judgeTail(walk, false);
}

/** Takes one record. `none`: the line here has no good checksum. A checked line that does not fit here is never a tear. */
function nextRecord(walk: Walk, target: ScanTarget): "record" | "none" | Corrupt {
  const end = walk.bytes.indexOf(LF, walk.at);
  const line = end === -1 ? null : decodeLine(walk.bytes.subarray(walk.at, end), walk.seed);
  if (line === null || line["t"] === "mark") return "none";
  const problem = misfit(walk, line);
  if (problem !== null) return corrupt(walk.at, problem);
  const record = parseRecord(line);
  if (record === null) return corrupt(walk.at, "the record has no known form");
  const wrong = misplaced(record, walk.seal) ?? unknownKind(record, target.kinds) ?? applyRecord(walk.state, record);
  if (wrong !== null) return corrupt(walk.at, wrong);
  walk.at = end + 1;
  walk.sequence += 1;
  walk.durable = Number(line["d"]);
  if (record.t === "seal") walk.seal = walk.sequence;
  return "record";
}

function misfit(walk: Walk, line: Readonly<Record<string, unknown>>): string | null {
  const { s: sequence, d: durable } = line;
  if (sequence !== walk.sequence + 1) return `record ${walk.sequence + 1} is missing`;
  if (typeof durable !== "number" || durable > walk.sequence) return "the watermark covers records that are missing";
  const least = walk.durable === 0 ? (walk.seal ?? 0) : walk.durable;
  return durable < least ? "the watermark falls" : null;
}

function misplaced(record: SnapshotRecord | LiveRecord, seal: number | null): string | null {
  if (record.t === "request") return null;
  const snapshot = record.t === "open" || record.t === "quarantine" || record.t === "seal";
  return snapshot === (seal === null) ? null : "the record is out of place";
}

function unknownKind(record: SnapshotRecord | LiveRecord, kinds: ScanTarget["kinds"]): string | null {
  if (kinds === "any") return null;
  const operations = record.t === "open" ? [record.op] : record.t === "begin" ? record.ops : [];
  const unknown = operations.find((operation) => !kinds.includes(operation.k));
  return unknown === undefined ? null : "an operation is of an unknown kind";
}

/** Passes the mark that stands after one empty line behind the last record. */
function takeMark(walk: Walk): "none" | "marked" | "ahead" {
  if (walk.bytes[walk.at] !== LF) return "none";
  const end = walk.bytes.indexOf(LF, walk.at + 1);
  const line = end === -1 ? null : decodeLine(walk.bytes.subarray(walk.at + 1, end), walk.seed);
  if (line === null || line["t"] !== "mark") return "none";
  if (Number(line["d"]) > walk.sequence) return "ahead";
  if (line["d"] !== walk.sequence) return "none";
  walk.at = end + 1;
  return "marked";
}

/** Judges what follows the last good record: nothing, a torn batch, damage to what was durable, or an unsynced claim. */
function judgeTail(walk: Walk, marked: boolean): SegmentScan {
  const { bytes, head, state } = walk;
  const expected = walk.sequence + 1;
  const end = contentEnd(bytes);
  for (const line of checkedLines(bytes, { from: walk.at, end, seed: walk.seed })) {
    // A crash loses lines of the last batch in any combination, but it neither moves nor repeats one, and all have a sequence.
    const repeated = line["t"] !== "mark" && !(Number(line["s"]) > expected);
    if (repeated || Number(line["d"]) >= expected) return corrupt(walk.at, `record ${expected} is damaged`);
  }
  // The mark behind the last record proves that nothing is lost: the next batch would have replaced it.
  const altered = marked ? null : alteration(walk, end);
  if (altered !== null && walk.sequence === walk.seal) return { kind: "unfinished", head, offset: walk.at };
  if (altered !== null) return corrupt(walk.at, altered);
  return { kind: "whole", head, state, tornBytes: Math.max(0, end - walk.at) };
}

/**
 * What no crash leaves behind a record: a segment was whole, allocated and synced before its first one, and records hold no NUL.
 * Behind a bare snapshot both are what a claim looks like that was not synced yet.
 */
function alteration({ bytes, head, at }: Walk, end: number): string | null {
  if (bytes.length < head.cap) return `the file has ${bytes.length} of ${head.cap} bytes`;
  return bytes.subarray(at, end).includes(0) ? "a block of NULs follows the last record" : null;
}

function* checkedLines(
  bytes: Uint8Array,
  span: Span & { readonly seed: number },
): Generator<Readonly<Record<string, unknown>>> {
  for (const text of objectLines(bytes, span)) {
    // A line that the end of the file cut is no record yet, even if only its `\n` is missing.
    const line = text.byteOffset + text.length < bytes.byteOffset + bytes.length ? decodeLine(text, span.seed) : null;
    if (line !== null) yield line;
  }
}

interface Span {
  readonly from: number;
  readonly end: number;
}

/** The lines that may be objects, without their `\n`; what is damaged otherwise, and the fill, is passed over. */
function* objectLines(bytes: Uint8Array, span: Span): Generator<Uint8Array> {
  let at = span.from;
  while (at < span.end) {
    if (bytes[at] === LF) {
      at += 1;
      continue;
    }
    const found = bytes.indexOf(LF, at);
    const stop = found === -1 ? bytes.length : found;
    if (bytes[at] === OPENING_BRACE) yield bytes.subarray(at, stop);
    at = stop + 1;
  }
}

const OPENING_BRACE = 0x7b;

/** Where the fill begins: after the last byte that is not `\n`. Sought from the end, as most of a segment is fill. */
function contentEnd(bytes: Uint8Array): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === LF) end -= 1;
  return end;
}

/** The smallest unit that a disk writes whole: between two of different age a crash cuts at most one line. */
const SECTOR_BYTES = 512;

/**
 * A damaged snapshot is an unfinished claim, unless a record of later work shows that the claim was finished. Where the head is
 * lost the salt is too, so any line that reads as such a record is taken for one, and more cut lines than a crash leaves for damage:
 * doubt fails closed (I100), and each costs dear.
 */
function withoutSnapshot(bytes: Uint8Array, found: { head: Head | null; offset: number }): SegmentScan {
  const damaged = corrupt(found.offset, "the snapshot is damaged");
  const seed = found.head === null ? null : Number.parseInt(found.head.e, 16);
  let cuts = 0;
  for (const text of objectLines(bytes, { from: found.offset, end: contentEnd(bytes) })) {
    const line = seed === null ? parseRecordLike(text) : decodeLine(text, seed);
    if (line === null) cuts += 1;
    else if (line["s"] === undefined ? seed !== null && line["t"] !== "mark" : Number(line["d"]) > 0) return damaged;
    if (seed === null && cuts > Math.ceil(bytes.length / SECTOR_BYTES)) return damaged;
  }
  return { kind: "unfinished", ...found };
}

/** Shorter than every record's line. */
const SHORT_LINE_BYTES = 32;

function parseRecordLike(text: Uint8Array): Readonly<Record<string, unknown>> | null {
  return text.length < SHORT_LINE_BYTES ? null : parseObject(Buffer.from(text).toString("utf8"));
}

function corrupt(offset: number, message: string): Corrupt {
  return { kind: "corrupt", offset, message };
}
