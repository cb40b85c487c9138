import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openSimulated, SIMULATED_DIRECTORY, SimulatedDisk } from "../testing/index.ts";
import { type JournalView, viewJournal } from "./view-journal.ts";

const SEGMENT = `${SIMULATED_DIRECTORY}/e00000001.jsonl`;
let disk: SimulatedDisk;

beforeEach(async () => {
  disk = new SimulatedDisk();
  const journal = await openSimulated(disk);
  const token = await journal.begin({ operationId: "a", generation: "g1", kind: "tool" });
  await journal.note(token, { step: "dispatched" });
});

const types = (view: JournalView): unknown[] =>
  view.kind === "journal" && view.segment !== null ? view.segment.lines.map(({ fields }) => fields?.["t"] ?? null) : [];
const lines = ["head", "seal", "begin", "note", "mark"];

describe("a look at a journal", () => {
  it("shows a directory and one segment alone, whatever the kinds of its operations", () => {
    const report = { kind: "ok", segment: 1, open: [{ operationId: "a", kind: "tool" }] };
    const expected = { kind: "journal", report, segment: { path: SEGMENT, capacity: 16_384 } };
    for (const path of [SIMULATED_DIRECTORY, SEGMENT]) {
      const view = viewJournal(path, disk);
      expect(view).toMatchObject(expected);
      expect(types(view)).toEqual(lines);
    }
    disk.plant("/copy", disk.contentOf(SEGMENT), 0o644);
    expect(viewJournal("/copy", disk)).toMatchObject({ report, segment: { path: "/copy" } });
    expect(types(viewJournal("/copy", disk))).toEqual(lines);
  });

  it("shows where each line begins", () => {
    const view = viewJournal(SEGMENT, disk);
    if (view.kind !== "journal" || view.segment === null) throw new Error(view.kind);
    const content = disk.contentOf(SEGMENT);
    for (const { offset, bytes, fields } of view.segment.lines) {
      const text = content.subarray(offset, offset + bytes).toString();
      expect(JSON.parse(text)).toEqual({ ...fields, c: text.slice(-10, -2) });
    }
  });

  it("I71 shows the lines of a refused segment too, the bad ones without content", () => {
    const content = disk.contentOf(SEGMENT);
    const offset = content.indexOf('{"s":2');
    content[offset + 9] = 0;
    disk.plant(SEGMENT, content);
    const view = viewJournal(SIMULATED_DIRECTORY, disk);
    expect(view).toMatchObject({ report: { kind: "refused", why: "corrupt", path: SEGMENT, offset } });
    expect(types(view)).toEqual(["head", "seal", null, "note", "mark"]);
    content[3] = 0;
    disk.plant("/copy", content);
    expect(types(viewJournal("/copy", disk))).toEqual([]);
    disk.plant(SEGMENT, content);
    expect(types(viewJournal(SEGMENT, disk))).toEqual([null, null, null, null, null]);
  });

  it("tells a segment under another's name, and takes any other name for none", () => {
    const content = disk.contentOf(SEGMENT);
    disk.plant("/e00000002.jsonl", content);
    expect(viewJournal("/e00000002.jsonl", disk)).toMatchObject({ report: { kind: "refused", why: "corrupt" } });
    disk.plant("/evidence.jsonl", content);
    expect(viewJournal("/evidence.jsonl", disk)).toMatchObject({ report: { kind: "ok" } });
  });

  it("has no segment to show for a fresh directory, nor for what cannot be read", () => {
    disk.mkdir("/empty", 0o700);
    expect(viewJournal("/empty", disk)).toEqual({ kind: "journal", report: { kind: "fresh" }, segment: null });
    expect(viewJournal("/nowhere", disk)).toEqual({ kind: "missing" });
    disk.inject({ call: "read", pathEnds: SEGMENT, errno: "EIO", lasting: true });
    for (const path of [SIMULATED_DIRECTORY, SEGMENT]) {
      expect(viewJournal(path, disk)).toMatchObject({ report: { kind: "refused", why: "unreadable" }, segment: null });
    }
  });

  it("says of a link that it is one, to a directory or a segment", () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-view-"));
    try {
      symlinkSync(folder, join(folder, "link"));
      symlinkSync(join(folder, "none"), join(folder, "e00000001.jsonl"));
      for (const name of ["link", "e00000001.jsonl"]) {
        const report = { kind: "refused", why: "permissions", message: "it is a symbolic link" };
        expect(viewJournal(join(folder, name))).toMatchObject({ report });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("shows a file in the origin's format", () => {
    const line = { version: 1, activeSessionId: "a", sessionId: "s", busy: true, operation: "prompt", recordedAt: 1 };
    disk.plant("/activity.jsonl", Buffer.from(`${JSON.stringify(line)}\n`));
    const report = { kind: "legacy", open: [{ activeSessionId: "a" }] };
    expect(viewJournal("/activity.jsonl", disk)).toMatchObject({ kind: "legacy", report });
    disk.plant("/bad.jsonl", Buffer.from("?\n"));
    expect(viewJournal("/bad.jsonl", disk)).toMatchObject({ kind: "legacy", report: { kind: "refused", offset: 0 } });
  });
});
