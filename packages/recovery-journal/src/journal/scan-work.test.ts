import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { crc32 } from "../format/crc32.ts";
import { encodeLine, HEAD_SEED } from "../format/line.ts";
import { scanLegacy } from "../legacy/scan-legacy.ts";
import { scanSegment } from "./scan.ts";

let hashedBytes = 0;
vi.mock("../format/crc32.ts", async (original) => {
  const real = await original<{ crc32: typeof crc32 }>();
  return {
    ...real,
    crc32: (bytes: Uint8Array, seed: number) => {
      hashedBytes += bytes.length;
      return real.crc32(bytes, seed);
    },
  };
});
const parse = vi.spyOn(JSON, "parse");
beforeEach(() => {
  hashedBytes = 0;
  parse.mockClear();
});
afterEach(() => parse.mockClear());

const SIZE = 256 * 1024;
const SEED = 0x0badcafe;
const fill = (start: string, line: string | Buffer): Buffer => {
  const bytes = Buffer.alloc(SIZE, line);
  bytes.write(start, "latin1");
  return bytes;
};
const head = encodeLine(
  JSON.stringify({ t: "head", v: 2, n: 1, e: "0badcafe", cap: SIZE, owner: { generation: "g", identity: {} } }),
  HEAD_SEED,
).toString();
const seal = encodeLine('{"s":1,"d":0,"t":"seal","count":0,"next":1}', SEED).toString();
/** A good checksum over what is no JSON. */
const checked = (body: string): Buffer => {
  const sum = crc32(Buffer.from(body), SEED).toString(16).padStart(8, "0");
  return Buffer.from(`${body},"c":"${sum}"}\n`);
};

const lines: Record<string, string | Buffer> = {
  "lines of one brace": "{\n",
  "objects of nothing": "{}\n",
  "objects with one brace more": "{}}\n",
  "records of a snapshot": '{"s":1,"d":0}\n',
  "empty lines": "\n",
  NULs: "\0",
  "one line": "{",
  "checked lines that are no JSON": checked("{x"),
  "checked lines of a later batch that are no JSON": checked('{"s":9,"d":1,'),
  marks: encodeLine('{"d":0,"t":"mark"}', SEED),
  "lines with a wrong checksum": encodeLine('{"s":9,"d":1,"t":"release"}', SEED + 1),
  "records with a later sequence": encodeLine('{"s":9,"d":1,"t":"release"}', SEED),
};
const starts: Record<string, string> = { "no head": "", "a head": head, "a head and a seal": head + seal };

describe.each(Object.entries(starts))("the work of a scan, of %s", (_, start) => {
  it.each(Object.entries(lines))("I71 is bounded by the size of what it reads: %s", (_title, line) => {
    const bytes = fill(start, line);
    hashedBytes = 0;
    const { kind } = scanSegment(bytes, { segment: 1, kinds: "any" });
    expect(["corrupt", "unfinished", "whole"]).toContain(kind);
    expect(hashedBytes).toBeLessThan(3 * SIZE);
    // A text that is no JSON costs far more than one that is.
    const failed = parse.mock.results.filter(({ type }) => type === "throw");
    expect(failed.length).toBeLessThan(SIZE / 512 + 2);
    const parsedBytes = parse.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    expect(parsedBytes).toBeLessThan(3 * SIZE);
  });
});

it.each(Object.entries(lines))("I71 a scan of the origin's lines stops at the first bad one: %s", (_, line) => {
  scanLegacy(fill("", line));
  expect(parse.mock.results.length).toBeLessThan(3);
});
