import { describe, expect, it } from "vitest";
import { openJournal } from "../journal/open.ts";
import { openSimulated, SimulatedDisk, SIMULATED_KINDS, simulatedOptions } from "../testing/index.ts";
import type { Journal, OperationToken } from "../types.ts";
import { readLegacyJournal } from "./read-legacy.ts";
import { scanLegacy } from "./scan-legacy.ts";

const PATH = "/activity.jsonl";
const UUIDS = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"] as const;
const [OPERATION, GENERATION] = UUIDS;

const line = (activeSessionId: string, busy: boolean, more: object = {}): string =>
  `${JSON.stringify({ version: 1, activeSessionId, sessionId: `s-${activeSessionId}`, busy, operation: "prompt", recordedAt: "t", ...more })}\n`;
const second = (activeSessionId: string, busy: boolean, more: object = {}): string =>
  line(activeSessionId, busy, { version: 2, operationId: OPERATION, generation: GENERATION, ...more });
const scan = (text: string) => scanLegacy(Buffer.from(text));
const opens = (text: string): string[] => {
  const found = scan(text);
  if (found.kind !== "legacy") throw new Error(found.message);
  return found.open.map(({ activeSessionId, operationId }) => `${activeSessionId} ${operationId ?? "-"}`);
};

describe("lines of the origin's format", () => {
  it("count by the latest of each active session", () => {
    const text = line("a", true) + line("b", true, { sessionFile: "/b" }) + line("a", false, { operation: "ready" });
    expect(scan(text)).toEqual({
      kind: "legacy",
      sessions: [
        { activeSessionId: "a", sessionId: "s-a", sessionFile: null, busy: false, operation: "ready", recordedAt: "t" },
        { activeSessionId: "b", sessionId: "s-b", sessionFile: "/b", busy: true, operation: "prompt", recordedAt: "t" },
      ],
      open: [
        {
          kind: "legacy",
          activeSessionId: "b",
          sessionId: "s-b",
          sessionFile: "/b",
          operation: "prompt",
          recordedAt: "t",
          operationId: null,
          generation: null,
        },
      ],
      uncertainTail: false,
    });
  });

  it("I72 I85 of version 2 close by the same key and operation alone, and never those of version 1", () => {
    expect(opens(second("a", true) + second("a", false))).toEqual([]);
    expect(opens(second("a", true) + second("a", false, { operation: "turn_start" }))).toEqual([`a ${OPERATION}`]);
    expect(opens(second("a", true) + second("a", false, { generation: OPERATION }))).toEqual([`a ${OPERATION}`]);
    expect(opens(second("a", false))).toEqual([]);
    expect(opens(line("a", true) + second("a", true) + second("a", false))).toEqual(["a -"]);
    expect(opens(second("a", true) + line("a", false))).toEqual([`a ${OPERATION}`]);
  });

  it("I140 keep what was busy when the last line is cut at any byte, and say that it was", () => {
    const before = line("a", true) + line("b", true);
    const last = line("a", false, { operation: "é" });
    const bytes = Buffer.from(before + last);
    const first = Buffer.byteLength(before);
    for (let length = first + 1; length < bytes.length - 1; length += 1) {
      expect(scanLegacy(bytes.subarray(0, length))).toMatchObject({
        uncertainTail: true,
        open: [{ activeSessionId: "a" }, { activeSessionId: "b" }],
      });
    }
    for (const length of [bytes.length - 1, bytes.length]) {
      expect(scanLegacy(bytes.subarray(0, length))).toMatchObject({
        uncertainTail: false,
        open: [{ activeSessionId: "b" }],
      });
    }
    expect(scanLegacy(Buffer.concat([bytes.subarray(0, first), Buffer.alloc(64)]))).toMatchObject({
      uncertainTail: true,
    });
    expect(scan("")).toEqual({ kind: "legacy", sessions: [], open: [], uncertainTail: false });
  });

  it.each([
    ["no JSON", "{\n"],
    ["no object", "[]\n"],
    ["no version", "{}\n"],
    ["NULs", "\0\0\0\n"],
    ["a field missing", line("b", true).replace("busy", "bus")],
    ["a field of a wrong type", line("b", true, { sessionFile: 3 })],
    ["a key that is no UUID", second("b", true, { operationId: "x" })],
    ["bytes that are no UTF-8", "\xff\n"],
  ])("I71 are corrupt with a bad one among them: %s", (_title, bad) => {
    const first = line("a", true);
    const bytes = Buffer.from(first + bad, "latin1");
    const expected = { kind: "corrupt", offset: first.length };
    expect(scanLegacy(bytes)).toMatchObject(expected);
    expect(scanLegacy(Buffer.concat([bytes, Buffer.from(line("b", true))]))).toMatchObject(expected);
  });

  it("I71 I140 are seen in no file but an empty one that has not one of them, nor the start of the first", () => {
    const nothing = ["\0".repeat(64), "hello", " {", "\n", "\n\n\0\0", "\xff".repeat(600)];
    for (const text of nothing) {
      expect([text, scanLegacy(Buffer.from(text, "latin1"))]).toMatchObject([text, { kind: "corrupt", offset: 0 }]);
    }
    for (const text of ["{", line("a", true).slice(0, 40), `\n${line("a", true).slice(0, 40)}`]) {
      expect(scan(text)).toMatchObject({ kind: "legacy", open: [], uncertainTail: true });
    }
  });

  it("are refused with one of a later version, wherever it stands", () => {
    const text = line("a", true) + line("b", true, { version: 3 });
    const expected = { kind: "unsupported-version", offset: line("a", true).length };
    expect(scan(text)).toMatchObject(expected);
    expect(scan(text.trimEnd())).toMatchObject(expected);
  });
});

const disk = (text: string): SimulatedDisk => {
  const made = new SimulatedDisk();
  made.plant(PATH, Buffer.from(text));
  return made;
};
/** What is reported of it by a journal that is opened beside it. */
const legacyAt = async (made: SimulatedDisk): Promise<unknown> => {
  const opened = await openJournal(simulatedOptions(made, { legacy: PATH }));
  return opened.kind === "opened" ? opened.report.legacy : opened;
};
/** Somebody who makes the name of the origin's work up: the journal alone makes tokens. */
const forged = (operationId: string, generation: string): OperationToken<"prompt"> =>
  Object.assign(Object.create(null), { operationId, generation, kind: "prompt" });

describe("a file in the origin's format", () => {
  it("is missing, unreadable or too large under that name", () => {
    const empty = new SimulatedDisk();
    expect(readLegacyJournal(PATH, empty)).toEqual({ kind: "missing" });
    const refused = { kind: "refused", path: PATH, offset: null };
    const failing = disk("");
    failing.inject({ call: "read", errno: "EIO" });
    expect(readLegacyJournal(PATH, failing)).toEqual({ ...refused, why: "unreadable", message: "EIO" });
    empty.mkdir("/directory", 0o700);
    expect(readLegacyJournal("/directory", empty)).toMatchObject({ ...refused, path: "/directory", why: "unreadable" });
    empty.plant(PATH, Buffer.alloc(16 * 1024 * 1024 + 1, "\n"));
    expect(readLegacyJournal(PATH, empty)).toMatchObject({ ...refused, why: "oversize" });
  });

  it("I85 is reported by the journal beside it, never written and never settled, through compaction, close and reopening", async () => {
    const text = line("a", true) + second("b", true);
    const simulated = disk(text);
    const open = [
      { kind: "legacy", activeSessionId: "a", operationId: null },
      { kind: "legacy", activeSessionId: "b", operationId: OPERATION, generation: GENERATION },
    ];
    for (let round = 1; round <= 2; round += 1) {
      const opened = await openJournal(simulatedOptions(simulated, { legacy: PATH }));
      if (opened.kind !== "opened") throw new Error(opened.kind);
      const journal: Journal<(typeof SIMULATED_KINDS)[number]> = opened.journal;
      expect(opened.report.legacy).toMatchObject({ open, uncertainTail: false });
      expect(journal.adopt({ operationId: OPERATION, generation: GENERATION })).toBeNull();
      for (const token of [forged(OPERATION, GENERATION), forged("a", "g1")]) {
        expect(await journal.end(token, { kind: "completed" })).toBe("stale");
      }
      expect(journal.counters().staleEnds).toBe(2);
      const detail = { text: "x".repeat(2000) };
      for (let count = 0; journal.counters().compactions === 0; count += 1) {
        const begun = await journal.begin({ operationId: `p${count}`, generation: "g1", kind: "prompt", detail });
        await journal.end(begun, { kind: "completed" });
      }
      await journal.close();
      expect(simulated.contentOf(PATH).toString()).toBe(text);
      expect(simulated.contentOf(`/journal/e0000000${2 * round}.jsonl`).includes("legacy")).toBe(false);
    }
  });

  it("I85 keeps its own names: the same ones begin and end in the journal without touching it", async () => {
    const simulated = disk(second("a", true));
    const journal = await openSimulated(simulated, { legacy: PATH });
    const token = await journal.begin({ operationId: OPERATION, generation: GENERATION, kind: "prompt" });
    expect(await journal.end(token, { kind: "completed" })).toBe("ended");
    expect(await legacyAt(simulated)).toMatchObject({ open: [{ operationId: OPERATION }] });
  });

  it("I71 keeps the journal from being opened when it is refused, and nothing is written", async () => {
    const simulated = disk(`{}\n${line("a", true)}`);
    const refused = { kind: "refused", why: "corrupt", path: PATH, offset: 0 };
    expect(await openJournal(simulatedOptions(simulated, { legacy: PATH }))).toMatchObject(refused);
    expect(simulated.exists("/journal")).toBe(false);
  });

  it("may be missing, and without one there is no such work", async () => {
    const none = { open: [], uncertainTail: false };
    expect(await legacyAt(new SimulatedDisk())).toEqual(none);
    const opened = await openJournal(simulatedOptions(new SimulatedDisk()));
    expect(opened).toMatchObject({ kind: "opened", report: { legacy: none } });
  });

  it("I140 has its torn last line said by the journal that is opened beside it", async () => {
    const torn = disk(line("a", true) + line("b", true).slice(0, 30));
    expect(await legacyAt(torn)).toMatchObject({ open: [{ activeSessionId: "a" }], uncertainTail: true });
  });

  it("I71 has no damage and no tear in a line that was being written", () => {
    const text = line("a", true) + line("b", true);
    for (const start of ["{", `${line("a", true)}{"ver`]) {
      const simulated = disk(start);
      let calls = 0;
      simulated.onCall = (call) => {
        if (call !== "open") return;
        calls += 1;
        if (calls === 2) simulated.plant(PATH, Buffer.from(text));
      };
      expect(readLegacyJournal(PATH, simulated)).toMatchObject({ kind: "legacy", uncertainTail: false });
    }
  });
});
