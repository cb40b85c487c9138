import fc from "fast-check";
import { expect, it } from "vitest";
import { crc32, tableCrc32 } from "./crc32.ts";

it("gives the check value of CRC-32 with and without zlib's own", () => {
  const check = Buffer.from("123456789");
  expect([crc32(check, 0), tableCrc32(check, 0)]).toEqual([0xcbf43926, 0xcbf43926]);
});

it("agrees for all bytes and seeds", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.integer({ min: 0, max: 0xffffffff }), (bytes, seed) => {
      expect(tableCrc32(bytes, seed)).toBe(crc32(bytes, seed));
    }),
  );
});
