import { array, assert, integer, property, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_OUTPUT_EVENT_BYTES, OutputDecoder } from "./output.ts";

function decodeAll(bytes: Buffer, cuts: readonly number[]): ReturnType<OutputDecoder["decode"]> {
  const decoder = new OutputDecoder();
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  const events = places.flatMap((start, index) =>
    decoder.decode({ stream: "stdout", bytes: bytes.subarray(start, places[index + 1] ?? start), turnId: "t" }),
  );
  return [...events, ...decoder.finish("t")];
}

/** Any text without lone surrogates, which UTF-8 cannot carry. */
const codePoints = array(integer({ min: 0, max: 0x10_ffff }).filter((point) => point < 0xd800 || point > 0xdfff)).map(
  (points) => String.fromCodePoint(...points),
);
const cutList = array(integer({ min: 0, max: 10_000 }), { maxLength: 10 });

describe("output events", () => {
  it("I150 keep UTF-8 text whole wherever chunks are cut, without bytes beside it", () => {
    assert(
      property(codePoints, cutList, (text, cuts) => {
        const events = decodeAll(Buffer.from(text), cuts);
        expect(events.map((event) => event.text).join("")).toBe(Buffer.from(text).toString());
        expect(events.some((event) => "bytes" in event)).toBe(false);
      }),
    );
  });

  it("I150 carry bytes that are not UTF-8 exactly", () => {
    assert(
      property(uint8Array({ maxLength: 64 }), cutList, (bytes, cuts) => {
        const events = decodeAll(Buffer.from(bytes), cuts);
        const carried = events.map((event) =>
          event.bytes === undefined ? Buffer.from(event.text) : Buffer.from(event.bytes, "base64"),
        );
        expect(Buffer.concat(carried).equals(bytes)).toBe(true);
      }),
    );
  });

  it("hold at most 64 KiB each and cut no code point", () => {
    const events = decodeAll(Buffer.from("😀".repeat(100_000)), []);
    for (const { text } of events) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_OUTPUT_EVENT_BYTES);
    expect(events.map(({ text }) => text).join("")).toBe("😀".repeat(100_000));
  });
});
