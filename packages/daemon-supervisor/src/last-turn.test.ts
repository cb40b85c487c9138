import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { afterEach, beforeEach, expect, it } from "vitest";
import { lastTurn } from "./last-turn.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "last-turn-"));
  path = join(directory, "transcript.jsonl");
});
afterEach(() => rmSync(directory, { recursive: true }));

let sequence = 0;
function append(type: string, more: object): void {
  sequence += 1;
  const stamp = { at: "2030-01-01T00:00:00.000Z", sessionId: "s" };
  appendFileSync(path, `${JSON.stringify({ cursor: `g:${sequence}`, type, ...stamp, ...more })}\n`);
}
const find = () => lastTurn(nodeFileSystem, path);

it("is null without a transcript and without a turn that ended", () => {
  expect(find()).toBeNull();
  append("turn_started", { turnId: "t", actionId: "t" });
  expect(find()).toBeNull();
});

it("is how the newest one ended, whatever came after it", () => {
  append("turn_ended", { turnId: "t", actionId: "t", stopReason: "cancelled" });
  append("turn_ended", { turnId: "u", actionId: "u", stopReason: "end_turn", exitCode: 3 });
  append("output", { stream: "stdout", text: '{"cursor":"g:1","type":"turn_ended",' });
  expect(find()).toEqual({ stopReason: "end_turn", exitCode: 3 });
});

it.each([100, 3_000, 40_000])("is found before %i lines of other output", (lines) => {
  append("turn_ended", { turnId: "t", actionId: "t", stopReason: "refused" });
  const text = "x".repeat(400);
  appendFileSync(
    path,
    `${JSON.stringify({ cursor: "g:999", type: "output", stream: "stdout", text })}\n`.repeat(lines),
  );
  expect(find()).toEqual({ stopReason: "refused" });
});

it("I142 a damaged line is not a turn", () => {
  writeFileSync(path, '{"cursor":"g:1","type":"turn_ended","stopReason":\n');
  expect(find()).toBeNull();
});
