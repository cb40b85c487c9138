import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { createObserver } from "@holdfast/shared-process";
import { sessionDirectory, transcriptPath } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { afterEach, beforeEach, expect, it } from "vitest";
import { descriptorPath, encodeDescriptor } from "../descriptor.ts";
import { prepareHome } from "../home.ts";
import { processOf } from "../lifecycle/samples.testing.ts";
import { viewHome } from "./home-view.ts";
import { listOffline, treeOffline, waitOffline } from "./sessions.ts";
import { makeSession, sessionRecordOf } from "../session-record.testing.ts";

const first = "01a2aaaa-0000-7000-8000-000000000001";
const second = "01a2aaaa-0000-7000-8000-000000000002";
let home: string;
beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), "offline-")), "home");
  prepareHome(nodeFileSystem, home);
});
afterEach(() => rmSync(join(home, ".."), { recursive: true }));

async function record(sessionId: string, more: Partial<SessionRecord>): Promise<void> {
  await makeSession(home, sessionRecordOf(sessionId, { wanted: "stopped", ...more }));
}

it("a session at rest is idle, with its last turn and the transcript's end; one that should run is waited for", async () => {
  await record(first, { name: "build", wanted: "passive" });
  await record(second, { wanted: "running" });
  const line = { cursor: "g:7", type: "turn_ended", turnId: "t", actionId: "t", stopReason: "end_turn", exitCode: 3 };
  writeFileSync(transcriptPath(sessionDirectory(home, first)), `${JSON.stringify(line)}\n`);
  expect(waitOffline(home, ["build", second], "idle").map(({ answer }) => answer())).toEqual([
    { sessionId: first, matched: true, lastTurn: { stopReason: "end_turn", exitCode: 3 }, cursor: "g:7" },
    { sessionId: second, matched: false, cursor: "start" },
  ]);
});

it("I168 a stop of which a full disk took the bare name alone is a stop", async () => {
  await record(first, { wanted: "running" });
  await record(second, { wanted: "running" });
  const stopId = "4a2aaaaa-0000-4000-8000-000000000001";
  writeFileSync(`${home}/workers/${first}.${stopId}.stop`, "");
  writeFileSync(`${home}/workers/${second}.${stopId}.archive`, "");
  const rows = listOffline(home, { archived: true }).sessions.map(({ state, lifecycle }) => `${state} ${lifecycle}`);
  expect(new Set(rows)).toEqual(new Set(["stopped archived", "stopped live"]));
});

it("I131 a worker's number is named only while the worker may have it", async () => {
  const identity = createObserver().self();
  const identities = { [first]: identity, [second]: { ...identity, startTicks: "1", pidfsInode: null } };
  for (const [sessionId, mine] of Object.entries(identities)) {
    await record(sessionId, { wanted: "running" });
    const shape = { lifecycle: "ready", process: { ...processOf("g"), identity: mine }, launches: [] } as const;
    writeFileSync(descriptorPath(home, sessionId), encodeDescriptor(sessionId, shape, { epoch: 1, at: "" }));
  }
  const rows = new Map(listOffline(home).sessions.map((row) => [row.sessionId, row]));
  expect(rows.get(first)).toMatchObject({ pid: process.pid, generation: "g" });
  expect(rows.get(second)).toMatchObject({ state: "recovering", pid: null, generation: null });
});

it("what a worker did since its record was written shows without a daemon, and nothing earlier than the record", async () => {
  const shape = { lifecycle: "ready", process: processOf("g"), launches: [] } as const;
  const written = { [first]: "2030-01-01T00:00:00.000Z", [second]: "2020-01-01T00:00:00.000Z" };
  const lastActivityAt = "2025-01-01T00:00:00.000Z";
  for (const [sessionId, at] of Object.entries(written)) {
    await record(sessionId, { wanted: "running", lastActivityAt });
    writeFileSync(descriptorPath(home, sessionId), encodeDescriptor(sessionId, shape, { epoch: 1, at: "" }));
    const path = transcriptPath(sessionDirectory(home, sessionId));
    writeFileSync(path, "");
    utimesSync(path, new Date(at), new Date(at));
  }
  const rows = new Map(listOffline(home).sessions.map((row) => [row.sessionId, row.lastActivityAt]));
  expect(rows).toEqual(
    new Map([
      [second, lastActivityAt],
      [first, written[first]],
    ]),
  );
});

it("an archived session is stopped", async () => {
  await record(first, { wanted: "archived" });
  expect(waitOffline(home, [first], "stopped")[0]?.matched).toBe(true);
});

it("a session that is not there is session_not_found", () => {
  expect(() => waitOffline(home, ["nope"], "idle")).toThrow(/no session "nope"/);
});

it("a tree stands by the parents of the records", async () => {
  await record(first, { name: "parent" });
  await record(second, { parentId: first });
  expect(treeOffline(home).sessions).toMatchObject([
    { sessionId: first, children: [{ sessionId: second, children: [] }] },
  ]);
  expect(treeOffline(home, second).sessions).toMatchObject([{ sessionId: second, children: [] }]);
});

it("I129 a bare intent that the record was written over counts no more, without a daemon either", async () => {
  const [old, newer] = ["4a2aaaaa-0000-4000-8000-000000000001", "4a2aaaaa-0000-4000-8000-000000000002"];
  await record(first, { wanted: "running", overtaken: [old] });
  await record(second, { wanted: "running", overtaken: [old] });
  writeFileSync(`${home}/workers/${first}.${old}.stop`, "");
  writeFileSync(`${home}/workers/${second}.${old}.archive`, "");
  writeFileSync(`${home}/workers/${second}.${newer}.stop`, "");
  const rows = new Map(listOffline(home, { archived: true }).sessions.map((row) => [row.sessionId, row]));
  expect(rows.get(first)).toMatchObject({ state: "recovering", lifecycle: "live" });
  expect(rows.get(second)).toMatchObject({ state: "stopped", lifecycle: "live" });
  // A forced stop has nothing to end of the one.
  expect(viewHome(home, []).bare).toEqual([second]);
});
