import { array, assert, constantFrom, integer, oneof, property, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { MarkSplitter } from "./splitter.ts";
import type { Split } from "./splitter.ts";

const NONCE = "n0nce";
const mark = (status: number, directory: string): Buffer => Buffer.from(`\0${NONCE}:${status}:${directory}\0`);

/** Cuts at the given places and pushes piece by piece, as the shell does: after its mark a stream is only output. */
function pushAll(bytes: Buffer, cuts: readonly number[]): { before: Buffer; after: Buffer; marks: Split["mark"][] } {
  const splitter = new MarkSplitter();
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((x, y) => x - y);
  const before: Buffer[] = [];
  const after: Buffer[] = [];
  const marks: Split["mark"][] = [];
  for (const [index, start] of places.entries()) {
    const split = splitter.push(bytes.subarray(start, places[index + 1] ?? start), marks.length === 0 ? NONCE : null);
    (marks.length === 0 ? before : after).push(...split.before);
    if (split.mark) marks.push(split.mark);
    after.push(...split.after);
  }
  (marks.length === 0 ? before : after).push(...splitter.finish());
  return { before: Buffer.concat(before), after: Buffer.concat(after), marks };
}

/** Output that likes to look like the beginning of a mark. */
const tricky = array(
  oneof(
    uint8Array({ maxLength: 8 }),
    constantFrom("\0", `\0${NONCE}`, `\0${NONCE}:`, `\0${NONCE}:1`, `\0${NONCE}:x:\0`, "\0n0", NONCE).map((text) =>
      Buffer.from(text),
    ),
  ),
  { maxLength: 8 },
).map((parts) => Buffer.concat(parts));
/** Without a whole head, which a command cannot print: it does not know the nonce. */
const plain = tricky.filter((bytes) => !bytes.includes(`\0${NONCE}:`));
const cutList = array(integer({ min: 0, max: 1_000 }), { maxLength: 8 });

describe("marks in a shell's output", () => {
  it("I150 takes out exactly the mark, byte for byte, wherever chunks are cut", () => {
    assert(
      property(plain, tricky, cutList, (output, later, cuts) => {
        const directory = "/tmp/a:b\n😀";
        const found = pushAll(Buffer.concat([output, mark(7, directory), later]), cuts);
        expect(found.before.equals(output)).toBe(true);
        expect(found.after.equals(later)).toBe(true);
        expect(found.marks).toEqual([{ status: 7, directory }]);
      }),
    );
  });

  it("I150 loses no byte of output without a mark", () => {
    assert(
      property(plain, cutList, (output, cuts) => {
        const found = pushAll(output, cuts);
        expect(found.marks).toEqual([]);
        expect(found.before.equals(output)).toBe(true);
      }),
    );
  });

  it("holds back only what may become a mark, and not without end", () => {
    const splitter = new MarkSplitter();
    expect(splitter.push(Buffer.from("abc\0n0"), NONCE).before.map(String)).toEqual(["abc"]);
    expect(splitter.push(Buffer.from("x"), NONCE).before.map(String)).toEqual(["\0n0x"]);
    const endless = Buffer.concat([Buffer.from(`\0${NONCE}:0:`), Buffer.alloc(20_000, "x")]);
    expect(splitter.push(endless, NONCE).before.map(({ length }) => length)).toEqual([endless.length]);
  });
});
