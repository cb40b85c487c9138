import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
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
  expect(existsSync(join(home.path, "sessions", sessionId))).toBe(false);
}, 60_000);
