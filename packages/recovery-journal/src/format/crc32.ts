import * as zlib from "node:zlib";

/** CRC-32 (ISO-HDLC, that of zlib) of `bytes`, going on from `seed`. */
export type Crc32 = (bytes: Uint8Array, seed: number) => number;

/** One byte at a time from a table: for the Node 20 releases whose zlib lacks `crc32` (before 20.15). */
export const tableCrc32: Crc32 = (bytes, seed) => {
  let crc = ~seed;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  return ~crc >>> 0;
};

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

const native: unknown = Reflect.get(zlib, "crc32");

export const crc32: Crc32 =
  typeof native === "function" ? (bytes, seed) => Number(Reflect.apply(native, zlib, [bytes, seed])) : tableCrc32;
