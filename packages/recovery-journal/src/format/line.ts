import { crc32 } from "./crc32.ts";

const SUFFIX_PREFIX = ',"c":"';
const SUFFIX = /^,"c":"([0-9a-f]{8})"\}$/;
const SUFFIX_BYTES = 16;

export const LF = 0x0a;
/** The head's checksum has no salt: the salt is in the head. */
export const HEAD_SEED = 0;

/** Bytes a line takes beyond its record's JSON: `"s":…,"d":…,`, the checksum and the end, with the longest numbers. */
export const LINE_OVERHEAD_BYTES = 64;

/** Where a record stands: its own sequence and the highest one known durable. */
interface RecordPlace {
  readonly sequence: number;
  readonly durable: number;
}

/** One line of the journal, its `\n` included. `json` is an object's text. */
export function encodeLine(json: string, seed: number): Buffer {
  const line = Buffer.allocUnsafe(lineBytes(json));
  return line.subarray(0, putLine(line, { start: 0, body: json.slice(0, -1), seed }));
}

/** The line of a record with its place; `recordJson` is the record's own object. */
export function encodeRecord(recordJson: string, place: RecordPlace, seed: number): Buffer {
  const line = Buffer.allocUnsafe(lineBytes(recordJson));
  return line.subarray(0, putRecord(line, { start: 0, recordJson, place, seed }));
}

/** Writes a record's line into `target`, which has room for its `lineBytes` from `start` on, and gives its end. */
export function putRecord(
  target: Buffer,
  line: { readonly start: number; readonly recordJson: string; readonly place: RecordPlace; readonly seed: number },
): number {
  const { start, recordJson, place, seed } = line;
  const body = `{"s":${place.sequence},"d":${place.durable},${recordJson.slice(1, -1)}`;
  return putLine(target, { start, body, seed });
}

function putLine(target: Buffer, line: { start: number; body: string; seed: number }): number {
  const end = line.start + target.write(line.body, line.start);
  const checksum = crc32(target.subarray(line.start, end), line.seed).toString(16).padStart(8, "0");
  return end + target.write(`${SUFFIX_PREFIX}${checksum}"}\n`, end, "latin1");
}

/** An upper bound of the bytes that a record's JSON takes as a line. */
function lineBytes(json: string): number {
  return Buffer.byteLength(json) + LINE_OVERHEAD_BYTES;
}

/** A mark is put after one empty line, so that damage to the last record's end cannot swallow both. */
export function encodeMark(durable: number, seed: number): Buffer {
  return Buffer.concat([Buffer.from("\n"), encodeLine(`{"d":${durable},"t":"mark"}`, seed)]);
}

/** The object of a line without its `\n`; `null` when the checksum is wrong. What is checked and no object has no fields. */
export function decodeLine(line: Uint8Array, seed: number): Readonly<Record<string, unknown>> | null {
  if (line.length <= SUFFIX_BYTES) return null;
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  const bodyLength = bytes.length - SUFFIX_BYTES;
  const written = SUFFIX.exec(bytes.toString("latin1", bodyLength))?.[1];
  if (written === undefined) return null;
  const body = bytes.subarray(0, bodyLength);
  if (crc32(body, seed) !== Number.parseInt(written, 16)) return null;
  return parseObject(`${body.toString("utf8")}}`) ?? {};
}

export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    // Not JSON: the caller's verdict is the same as for a wrong checksum.
    return null;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
