import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sessionRecordOf } from "../session-record.testing.ts";
import { IndexWriter } from "./index-writer.ts";
import { readIndex } from "./read-index.ts";
import type { IndexRow } from "./row.ts";

const first = "01a2aaaa-0000-7000-8000-000000000001";

describe("an index most of whose lines count no more", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "holdfast-index-"));
    mkdirSync(join(home, "sessions"));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it("I111 is written anew, and what comes meanwhile follows in it", async () => {
    const fs = nodeFileSystem;
    const entries = new Map<string, { readonly row: IndexRow }>();
    const writer = new IndexWriter({ fs, home, entries }, readIndex(fs, home), []);
    const put = (name: string): void => {
      const row = { ...sessionRecordOf(first, { name }), record: "1.1.1", folder: "1.1.1" };
      entries.set(first, { row });
      writer.put(row);
    };
    for (let line = 0; line < 4_099; line += 1) put(`n${line}`);
    expect(readIndex(fs, home).lines).toBe(4_099);
    put("last");
    await vi.waitFor(() => expect(readIndex(fs, home).lines).toBe(2), 10_000);
    expect(readIndex(fs, home).rows.get(first)?.name).toBe("last");
    put("later");
    expect([readIndex(fs, home).lines, readIndex(fs, home).rows.get(first)?.name]).toEqual([3, "later"]);
  });
});
