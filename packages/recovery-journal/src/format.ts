/*
 * The format of a recovery journal, version 2. For writers of other programs it is told in docs/journal-format.md.
 *
 * A journal is a directory (0700) with one live segment `e00000012.jsonl` (0600); numbers only grow. A segment has a fixed
 * capacity, is allocated whole at birth and filled with "\n", so that records overwrite allocated blocks, a full disk does
 * not stop them, and the file stays valid JSON lines for jq and grep. Every line ends in `,"c":"xxxxxxxx"}`: the CRC-32, in
 * hex, of all bytes before this suffix, seeded with the segment's salt (the head with 0).
 *
 *   {"t":"head","v":2,"n":12,"e":"<salt>","cap":16384,"owner":{"generation":…,"identity":…},"c":…}
 *   {"s":1,"d":0,"t":"open","op":{id,g,k,detail},"notes":[…],"o":order,"req":requestId|null,"c":…}     one per open operation
 *   {"s":2,"d":0,"t":"request","id":…,"hash":…,"outcome":{…}|null,"at":ms,"c":…}                       one per remembered request
 *   {"s":3,"d":0,"t":"quarantine","id":…,"evidence":name|null,"sha256":…|null,"why":…,"reason":…,"at":ms,"c":…}
 *                                                                                    one per unresolved quarantine
 *   {"s":4,"d":0,"t":"seal","count":3,"next":order,"c":…}                              the segment holds from here on
 *
 *   {"d":4,"t":"mark","c":…}                                                                           all up to 4 is durable
 *
 *   {"s":5,"d":4,"t":"begin","ops":[{id,g,k,detail},…],"req":{id,hash,at}|null,"c":…}    all or nothing
 *   {"s":6,"d":4,"t":"note","id":…,"g":…,"detail":{…},"c":…}
 *   {"s":7,"d":6,"t":"end","id":…,"g":…,"outcome":{…},"c":…}
 *   {"s":8,"d":7,"t":"resolve","id":…,"resolution":{…},"c":…}
 *   {"s":9,"d":8,"t":"request",…}      {"s":10,"d":9,"t":"release","c":…}
 *
 * `s` counts the lines; `d` is the highest sequence known durable when the line was made. A batch is written only after the one
 * before it was flushed, so a crash can damage only lines above every `d` on disk: a first bad line whose sequence some good
 * line's `d` covers is corruption, else it is a torn tail. `mark` stands, after one empty line, where the next batch will begin
 * and is overwritten by it (every record is longer): unsynced and without a sequence, it extends that proof to the last batch.
 *
 * A segment is allocated and synced whole before its first record, and no record holds a NUL: a file shorter than `cap`, or NULs,
 * behind a record without its mark is corruption, behind a bare snapshot a claim that was not synced yet.
 *
 * A segment is authoritative once its snapshot up to `seal` is whole; the highest such one counts. While a lower segment
 * stands, nothing on the higher one was ever acknowledged, so a higher one without a whole snapshot is an unfinished claim.
 *
 * A damaged segment that a person has put in quarantine lives on as `quarantine-00000012-<sha256, 8 digits>.jsonl`, which no
 * reader of the journal reads. The segment above it, empty but for the `quarantine` record, says so until a `resolve`.
 */
export const FORMAT_VERSION = 2;

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * A segment's size when idle, and the most it is doubled to: for load, for state. The reader takes more than the writer
 * makes.
 */
export const CAPACITY_MIN_BYTES = 16 * KIB;
export const CAPACITY_BUSY_MAX_BYTES = 512 * KIB;
export const CAPACITY_MAX_BYTES = 4 * MIB;
export const READER_SEGMENT_MAX_BYTES = 16 * MIB;

export const OPEN_OPERATIONS_MAX = 1024;
/** The reader's limit: above the writer's, so that no good journal is refused. */
export const READER_OPEN_OPERATIONS_MAX = 8192;

/** One record's JSON: an eighth of the largest segment, so that a snapshot of a few such records still fits. */
export const RECORD_MAX_BYTES = 512 * KIB;

/** A generation and an identity: small beside every segment, so that each journal has room for its next owner's. */
export const OWNER_MAX_BYTES = 64 * KIB;

/** Remembered requests beyond this are dropped, the oldest settled first: they leave a quarter of the largest segment free. */
export const REMEMBERED_MAX_BYTES = 5 * (MIB / 2);

/** Segments kept as evidence, their quarantines resolved or not: whoever has so many has another problem than one segment. */
export const EVIDENCE_MAX = 8;

/** Room kept for the end of every open operation, so that work can be ended on a full disk (I168). */
export const END_RESERVE_BYTES = 256;
/** Room kept for `release` and a mark. */
export const RELEASE_RESERVE_BYTES = 192;

const SEGMENT_NAME = /^e(\d{8,})\.jsonl$/;
const EVIDENCE_NAME = /^quarantine-(\d{8,})-[0-9a-f]{8}\.jsonl$/;
const TEMPORARY_NAME = /^e\d{8,}\.jsonl\.[0-9a-f]+\.tmp$/;

export function segmentName(segment: number): string {
  return `e${String(segment).padStart(8, "0")}.jsonl`;
}

/** The number in a segment's name, `null` for any other name. */
export function segmentNumber(name: string): number | null {
  const digits = SEGMENT_NAME.exec(name)?.[1];
  if (digits === undefined) return null;
  const segment = Number(digits);
  return Number.isSafeInteger(segment) && segmentName(segment) === name ? segment : null;
}

/** The name under which a damaged segment's bytes are kept. */
export function evidenceName(segment: number, sha256: string): string {
  return `quarantine-${String(segment).padStart(8, "0")}-${sha256.slice(0, 8)}.jsonl`;
}

/** The segment whose bytes are kept under an evidence name, `null` for any other name. */
export function evidenceSegment(name: string): number | null {
  const digits = EVIDENCE_NAME.exec(name)?.[1];
  const segment = Number(digits ?? Number.NaN);
  return Number.isSafeInteger(segment + 1) ? segment : null;
}

export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name);
}
