import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { goldenFiles } from "../test/golden.ts";
import {
  CAPACITY_BUSY_MAX_BYTES,
  CAPACITY_MAX_BYTES,
  CAPACITY_MIN_BYTES,
  END_RESERVE_BYTES,
  EVIDENCE_MAX,
  OPEN_OPERATIONS_MAX,
  OWNER_MAX_BYTES,
  READER_OPEN_OPERATIONS_MAX,
  READER_SEGMENT_MAX_BYTES,
  RECORD_MAX_BYTES,
  RELEASE_RESERVE_BYTES,
  REMEMBERED_MAX_BYTES,
} from "./format.ts";
import { NESTING_MAX } from "./format/stored-json.ts";
import { DEFAULT_REMEMBER } from "./journal/remember.ts";
import { MARK_DELAY_MS, SHRINK_DELAY_MS } from "./journal/rest-timer.ts";

const page = readFileSync(new URL("../../../docs/journal-format.md", import.meta.url), "utf8");

/** A number that only its own file needs. */
function constantIn(path: string, name: string): number {
  const source = readFileSync(new URL(path, import.meta.url), "utf8");
  const [, product = ""] = new RegExp(`^const ${name} = ([0-9_* ]+);$`, "m").exec(source) ?? [];
  return product.split("*").reduce((value, factor) => value * Number(factor.replaceAll("_", "")), 1);
}

/** As the page says it, bit by bit, and not as the package does. */
function checksum(bytes: Uint8Array, seed: number): string {
  let crc = ~seed;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (~crc >>> 0).toString(16).padStart(8, "0");
}

describe("docs/journal-format.md", () => {
  const [, example = ""] = /^```jsonl\n([^]*?)^```$/m.exec(page) ?? [];
  const lines = example.trimEnd().split("\n");

  it("has an example that is what the writer writes, with the checksums that it explains", () => {
    const golden = goldenFiles("v2/at-work")["e00000001.jsonl"]?.toString("utf8").split("\n");
    expect(lines.length).toBe(3);
    expect(lines).toEqual(golden?.slice(0, lines.length));
    const salt = Number.parseInt(JSON.parse(lines[0] ?? "").e, 16);
    for (const [index, line] of lines.entries()) {
      const suffix = `,"c":"${checksum(Buffer.from(line).subarray(0, -16), index === 0 ? 0 : salt)}"}`;
      expect(line.endsWith(suffix)).toBe(true);
    }
  });

  it("computes the checksum that it says", () => {
    const [, body = "", seed = "", answer = ""] = /crc32\(b'([^']+)', (0x\w+)\)\n'(\w+)'/.exec(page) ?? [];
    expect(lines[1]).toBe(`${body},"c":"${answer}"}`);
    expect(checksum(Buffer.from(body), Number(seed))).toBe(answer);
  });

  it("names the limits of the code", () => {
    const [, limits = ""] = /^## Limits\n([^]*?)^## /m.exec(page) ?? [];
    expect([...limits.matchAll(/(?<=\| *)\d+/g)].map(([number]) => Number(number))).toEqual([
      CAPACITY_MAX_BYTES,
      READER_SEGMENT_MAX_BYTES,
      CAPACITY_MIN_BYTES,
      CAPACITY_BUSY_MAX_BYTES,
      constantIn("journal/segment-image.ts", "BUSY_FILL_MS"),
      MARK_DELAY_MS,
      SHRINK_DELAY_MS,
      constantIn("journal/commit-queue.ts", "BATCH_MAX_BYTES"),
      OPEN_OPERATIONS_MAX,
      READER_OPEN_OPERATIONS_MAX,
      RECORD_MAX_BYTES,
      OWNER_MAX_BYTES,
      NESTING_MAX,
      DEFAULT_REMEMBER.count,
      DEFAULT_REMEMBER.ageMs,
      REMEMBERED_MAX_BYTES,
      END_RESERVE_BYTES,
      RELEASE_RESERVE_BYTES,
      EVIDENCE_MAX,
    ]);
  });
});
