import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { digestOf, openJournal, quarantineJournal } from "../packages/recovery-journal/src/index.ts";
import { Home } from "./support/home.ts";
import { smallDisk } from "./support/small-disk.ts";
import { errorCode, parseRow } from "./support/rows.ts";

it("archive hides, unarchive brings back stopped, resume launches; rename and set answer with the row", async () => {
  await using home = await Home.open();
  const { sessionId } = await home.newSession("s");
  expect(parseRow((await home.ok(["session", "archive", "s", "--json"])).stdout)).toMatchObject({
    sessionId,
    lifecycle: "archived",
    state: "stopped",
  });
  expect(await home.list()).toEqual([]);
  expect(parseRow((await home.ok(["session", "unarchive", sessionId, "--json"])).stdout)).toMatchObject({
    lifecycle: "live",
    state: "stopped",
  });
  expect(parseRow((await home.ok(["session", "rename", "s", "t", "--json"])).stdout).name).toBe("t");
  expect((await home.ok(["session", "resume", "t"])).stdout).toContain(" t: ready");
  expect((await home.ok(["session", "set", "t", "mode=plan"])).stdout).toContain(" t: ready");
  expect((await home.ok(["session", "retry", "t"])).stdout).toContain(" t: ready");
  const tree = await home.ok(["session", "tree", "t", "--json"]);
  expect(JSON.parse(tree.stdout)).toMatchObject({
    schemaVersion: 1,
    sessions: [{ sessionId, name: "t", children: [] }],
  });
}, 90_000);

it("I143 a passivation that was refused is refused again under its id", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  await home.ok(["prompt", "s", "sleep 600", "--no-wait"]);
  for (let round = 0; round < 2; round += 1) {
    const refused = await home.agent(["session", "passivate", "s", "--request-id", "p", "--json"]);
    expect([refused.code, errorCode(refused.stderr)]).toEqual([5, "session_busy"]);
  }
  expect(await home.show("s")).toMatchObject({ state: "ready", activity: "working" });
});

it("I141 a full disk does not keep a session from being deleted, nor too many options from being refused", async () => {
  await using home = await Home.open();
  const disk = smallDisk(home);
  await home.newSession("s");
  const many = Array.from({ length: 65 }, (_, index) => `k${index}=v`);
  expect((await home.agent(["session", "set", "s", ...many])).code).toBe(2);
  await home.ok(["stop", "s"]);
  disk.fill();
  await home.ok(["session", "delete", "s", "--yes"]);
  expect(await home.list()).toEqual([]);
});

it("I71 a session whose journal is in quarantine is not deleted until that is resolved", async () => {
  await using home = await Home.open();
  const { sessionId } = await home.newSession("s");
  await home.ok(["prompt", "s", "true"]);
  await home.ok(["stop", "s"]);
  const directory = join(home.path, "sessions", sessionId, "journal");
  const path = join(directory, readdirSync(directory)[0] ?? "");
  writeFileSync(path, "damage\n");
  const owner = { generation: "doctor", identity: {} };
  const options = { directory, owner, kinds: [], probeOwner: () => "gone" as const };
  const seen = { why: "corrupt" as const, path, sha256: digestOf(path) };
  const put = await quarantineJournal({ ...options, seen, reason: "damaged" });
  expect(put.kind).toBe("quarantined");
  const refused = await home.agent(["session", "delete", "s", "--yes", "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([7, "session_quarantined"]);
  expect(refused.stderr).toContain("is not resolved");
  const opened = await openJournal(options);
  if (opened.kind !== "opened") throw new Error(opened.kind);
  for (const { id } of opened.journal.quarantines()) await opened.journal.resolveQuarantine(id, { decision: "none" });
  await opened.journal.close();
  await home.ok(["session", "delete", "s", "--yes"]);
  expect(await home.list()).toEqual([]);
});

it("passivate releases the process, and the next prompt activates the session", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  expect(parseRow((await home.ok(["session", "passivate", "s", "--json"])).stdout)).toMatchObject({
    state: "passivated",
    pid: null,
  });
  expect((await home.ok(["prompt", "s", "echo back"])).stdout).toBe("back\n");
}, 60_000);

it("delete refuses a running session, asks without --yes, and then leaves nothing of it", async () => {
  await using home = await Home.open();
  const { sessionId } = await home.newSession("s");
  const running = await home.agent(["session", "delete", "s", "--yes", "--json"]);
  expect([running.code, errorCode(running.stderr)]).toEqual([5, "session_running"]);
  await home.ok(["stop", "s"]);
  const unasked = await home.agent(["session", "delete", "s", "--json"]);
  expect([unasked.code, errorCode(unasked.stderr)]).toEqual([2, "confirmation_required"]);
  expect((await home.show("s")).state).toBe("stopped");
  expect(parseRow((await home.ok(["session", "delete", "s", "--yes", "--json"])).stdout).sessionId).toBe(sessionId);
  expect((await home.agent(["session", "show", sessionId])).code).toBe(4);
  expect((await home.agent(["session", "delete", "s"])).code).toBe(4);
  const left = readdirSync(home.path, { recursive: true, encoding: "utf8" }).filter((path) => path.includes(sessionId));
  expect(left).toEqual([]);
}, 60_000);
