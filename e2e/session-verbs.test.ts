import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { digestOf, openJournal, quarantineJournal } from "../packages/recovery-journal/src/index.ts";
import { Home } from "./support/home.ts";
import { smallDisk } from "./support/small-disk.ts";
import { errorCode, parseRow } from "./support/rows.ts";

let home: Home;
beforeAll(async () => {
  home = await Home.create();
});
afterAll(async () => await home[Symbol.asyncDispose]());

it("archive hides, unarchive brings back stopped, resume launches; rename and set answer with the row", async () => {
  const { sessionId } = await home.newSession("verbs");
  expect(parseRow((await home.ok(["session", "archive", "verbs", "--json"])).stdout)).toMatchObject({
    sessionId,
    lifecycle: "archived",
    state: "stopped",
  });
  expect((await home.list()).filter((row) => row.sessionId === sessionId)).toEqual([]);
  expect(parseRow((await home.ok(["session", "unarchive", sessionId, "--json"])).stdout)).toMatchObject({
    lifecycle: "live",
    state: "stopped",
  });
  expect(parseRow((await home.ok(["session", "rename", "verbs", "renamed", "--json"])).stdout).name).toBe("renamed");
  expect((await home.ok(["session", "resume", "renamed"])).stdout).toContain(" renamed: ready");
  expect((await home.ok(["session", "set", "renamed", "mode=plan"])).stdout).toContain(" renamed: ready");
  expect((await home.ok(["session", "retry", "renamed"])).stdout).toContain(" renamed: ready");
  const tree = await home.ok(["session", "tree", "renamed", "--json"]);
  expect(JSON.parse(tree.stdout)).toMatchObject({
    schemaVersion: 1,
    sessions: [{ sessionId, name: "renamed", children: [] }],
  });
}, 90_000);

it("I143 a passivation that was refused is refused again under its id", async () => {
  await home.newSession("busy");
  await home.ok(["prompt", "busy", "sleep 600", "--no-wait"]);
  for (let round = 0; round < 2; round += 1) {
    const refused = await home.agent(["session", "passivate", "busy", "--request-id", "p", "--json"]);
    expect([refused.code, errorCode(refused.stderr)]).toEqual([5, "session_busy"]);
  }
  expect(await home.show("busy")).toMatchObject({ state: "ready", activity: "working" });
});

it("I141 a full disk does not keep a session from being deleted, nor too many options from being refused", async () => {
  await using own = await Home.open();
  const disk = smallDisk(own);
  await own.newSession("s");
  const many = Array.from({ length: 65 }, (_, index) => `k${index}=v`);
  expect((await own.agent(["session", "set", "s", ...many])).code).toBe(2);
  await own.ok(["stop", "s"]);
  disk.fill();
  await own.ok(["session", "delete", "s", "--yes"]);
  expect(await own.list()).toEqual([]);
});

it("I71 a session whose journal is in quarantine is not deleted until that is resolved", async () => {
  await using own = await Home.open();
  const { sessionId } = await own.newSession("s");
  await own.ok(["prompt", "s", "true"]);
  await own.ok(["stop", "s"]);
  const directory = join(own.path, "sessions", sessionId, "journal");
  const path = join(directory, readdirSync(directory)[0] ?? "");
  writeFileSync(path, "damage\n");
  const owner = { generation: "doctor", identity: {} };
  const options = { directory, owner, kinds: [], probeOwner: () => "gone" as const };
  const seen = { why: "corrupt" as const, path, sha256: digestOf(path) };
  const put = await quarantineJournal({ ...options, seen, reason: "damaged" });
  expect(put.kind).toBe("quarantined");
  const refused = await own.agent(["session", "delete", "s", "--yes", "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([7, "session_quarantined"]);
  expect(refused.stderr).toContain("is not resolved");
  const opened = await openJournal(options);
  if (opened.kind !== "opened") throw new Error(opened.kind);
  for (const { id } of opened.journal.quarantines()) await opened.journal.resolveQuarantine(id, { decision: "none" });
  await opened.journal.close();
  await own.ok(["session", "delete", "s", "--yes"]);
  expect(await own.list()).toEqual([]);
});

it("passivate releases the process, and the next prompt activates the session", async () => {
  await home.newSession("passive");
  expect(parseRow((await home.ok(["session", "passivate", "passive", "--json"])).stdout)).toMatchObject({
    state: "passivated",
    pid: null,
  });
  expect((await home.ok(["prompt", "passive", "echo back"])).stdout).toBe("back\n");
}, 60_000);

it("delete refuses a running session, asks without --yes, and then leaves nothing of it", async () => {
  const { sessionId } = await home.newSession("deleted");
  const running = await home.agent(["session", "delete", "deleted", "--yes", "--json"]);
  expect([running.code, errorCode(running.stderr)]).toEqual([5, "session_running"]);
  await home.ok(["stop", "deleted"]);
  const unasked = await home.agent(["session", "delete", "deleted", "--json"]);
  expect([unasked.code, errorCode(unasked.stderr)]).toEqual([2, "confirmation_required"]);
  expect((await home.show("deleted")).state).toBe("stopped");
  expect(parseRow((await home.ok(["session", "delete", "deleted", "--yes", "--json"])).stdout).sessionId).toBe(
    sessionId,
  );
  expect((await home.agent(["session", "show", sessionId])).code).toBe(4);
  expect((await home.agent(["session", "delete", "deleted"])).code).toBe(4);
  const left = readdirSync(home.path, { recursive: true, encoding: "utf8" }).filter((path) => path.includes(sessionId));
  expect(left).toEqual([]);
}, 60_000);
