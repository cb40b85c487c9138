/*
 * The format of a recovery journal, version 2.
 *
 * A journal is a directory (0700) with one live segment `e00000012.jsonl` (0600); numbers only grow. A segment has a fixed
 * capacity, is allocated whole at birth and filled with "\n", so that records overwrite allocated blocks, a full disk does
 * not stop them, and the file stays valid JSON lines for jq and grep. Every line ends in `,"c":"xxxxxxxx"}`: the CRC-32, in
 * hex, of all bytes before this suffix, seeded with the segment's salt (the head with 0).
 *
 *   {"t":"head","v":2,"n":12,"e":"<salt>","cap":16384,"owner":{"generation":…,"identity":…},"c":…}
 *   {"s":1,"d":0,"t":"open","op":{id,g,k,detail},"notes":[…],"o":order,"req":requestId|null,"c":…}     one per open operation
 *   {"s":2,"d":0,"t":"request","id":…,"hash":…,"outcome":{…}|null,"at":ms,"c":…}                       one per remembered request
 *   {"s":3,"d":0,"t":"seal","count":2,"next":order,"c":…}                              the segment holds from here on
 *
 *   {"d":3,"t":"mark","c":…}                                                                           all up to 3 is durable
 *
 *   {"s":4,"d":3,"t":"begin","ops":[{id,g,k,detail},…],"req":{id,hash,at}|null,"c":…}    all or nothing
 *   {"s":5,"d":3,"t":"note","id":…,"g":…,"detail":{…},"c":…}
 *   {"s":6,"d":5,"t":"end","id":…,"g":…,"outcome":{…},"c":…}
 *   {"s":7,"d":6,"t":"request",…}      {"s":8,"d":7,"t":"release","c":…}
 *
 * `s` counts the lines; `d` is the highest sequence known durable when the line was made. A batch is written only after the one
 * before it was flushed, so a crash can damage only lines above every `d` on disk: a first bad line whose sequence some good
 * line's `d` covers is corruption, else it is a torn tail. `mark` stands, after one empty line, where the next batch will begin
 * and is overwritten by it (every record is longer): unsynced and without a sequence, it extends that proof to the last batch.
 *
 * A segment is authoritative once its snapshot up to `seal` is whole; the highest such one counts. While a lower segment
 * stands, nothing on the higher one was ever acknowledged, so a higher one without a whole snapshot is an unfinished claim.
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

/** Remembered requests beyond this are dropped, the oldest settled first: they leave a quarter of the largest segment free. */
export const REMEMBERED_MAX_BYTES = 5 * (MIB / 2);

/** Room kept for the end of every open operation, so that work can be ended on a full disk (I168). */
export const END_RESERVE_BYTES = 256;
/** Room kept for `release` and a mark. */
export const RELEASE_RESERVE_BYTES = 192;

const SEGMENT_NAME = /^e(\d{8,})\.jsonl$/;
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

export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name);
}
