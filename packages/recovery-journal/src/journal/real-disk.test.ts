import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, assert, beforeEach, expect, it } from "vitest";
import { openJournal } from "./open.ts";
import { readJournal } from "./read.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-journal-"));
});
afterEach(() => rmSync(root, { recursive: true }));

it.each(["inline", "pool", "thread"] as const)(
  "keeps open work through closes and openings on a real disk: %s",
  async (engine) => {
    const directory = join(root, "session", "journal");
    const kinds = ["prompt"] as const;
    for (let round = 0; round < 3; round += 1) {
      const owner = { generation: `g${round}`, identity: { pid: round } };
      const opened = await openJournal({ directory, owner, kinds, engine, probeOwner: () => "unknown" });
      assert(opened.kind === "opened");
      await opened.journal.begin({ operationId: `p${round}`, generation: owner.generation, kind: "prompt" });
      await opened.journal.close();
    }
    const report = readJournal(directory, kinds);
    assert(report.kind === "ok");
    expect(report.open.map(({ operationId }) => operationId)).toEqual(["p0", "p1", "p2"]);
    expect(report.open.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(readdirSync(directory)).toEqual(["e00000003.jsonl"]);
    const stats = statSync(join(directory, "e00000003.jsonl"));
    expect([stats.size, stats.mode & 0o777, statSync(directory).mode & 0o777]).toEqual([16_384, 0o600, 0o700]);
  },
);
