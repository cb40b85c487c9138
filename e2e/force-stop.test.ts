import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import { errorCode } from "./support/rows.ts";

it("ps names the daemon and the workers with their verdicts, also when nothing runs", async () => {
  await using home = await Home.open();
  const empty = JSON.parse((await home.ok(["ps", "--json"])).stdout);
  expect(empty).toMatchObject({ schemaVersion: 1, daemons: [], workers: [], orphans: [], scan: { complete: true } });
  const row = await home.newSession("s");
  const full = JSON.parse((await home.ok(["ps", "--json"])).stdout);
  expect(full.daemons).toMatchObject([{ home: home.path, pid: home.daemon().pid, status: "current", sessionCount: 1 }]);
  const worker = { sessionId: row.sessionId, name: "s", pid: row.pid, state: "ready", verdict: "current" };
  expect(full.workers).toMatchObject([worker]);
  expect(full.workers[0].memoryBytes).toBeGreaterThan(1_000_000);
  const text = (await home.ok(["ps"])).stdout;
  expect(text).toContain(String(row.pid));
  expect(text).toContain(String(home.daemon().pid));
});

it("ps --force-stop without a terminal and without --yes touches nothing; with --yes it ends all", async () => {
  await using home = await Home.open();
  const rows = [await home.newSession("a"), await home.newSession("b")];
  await home.ok(["prompt", "a", "--no-wait", "setsid sleep 600 & sleep 601"]);
  const all = [home.daemon(), ...rows.map((row) => home.worker(row))];
  const refused = await home.agent(["ps", "--force-stop", "--json"]);
  expect([refused.code, errorCode(refused.stderr), refused.stdout]).toEqual([2, "confirmation_required", ""]);
  expect(await home.agent(["ps", "--force-stop", "--dry-run"])).toMatchObject({ code: 0 });
  expect(all.every((identity) => isRunning(identity))).toBe(true);
  const done = await home.agent(["ps", "--force-stop", "--yes", "--json"]);
  expect(done.code).toBe(0);
  const outcome = JSON.parse(done.stdout);
  expect(outcome).toMatchObject({ failed: [] });
  for (const { pid } of all) expect(outcome.stopped).toContainEqual(expect.objectContaining({ pid }));
  expect(home.processes()).toEqual([]);
  expect(readdirSync(join(home.path, "workers"))).toEqual([]);
  expect((await home.list()).map(({ state }) => state)).toEqual(["stopped", "stopped"]);
  expect((await home.agent(["ps", "--force-stop", "--yes"])).code).toBe(0);
});

it("ps --force-stop ends a frozen daemon, a frozen worker and a healthy one", async () => {
  await using home = await Home.open();
  const [frozen, healthy] = [await home.newSession("frozen"), await home.newSession("healthy")];
  const all = [home.daemon(), home.worker(frozen), home.worker(healthy)];
  home.freeze(home.worker(frozen));
  home.freeze(home.daemon());
  expect((await home.agent(["ps", "--json"])).code).toBe(0);
  expect((await home.agent(["ps", "--force-stop", "--yes"])).code).toBe(0);
  expect(all.filter((identity) => isRunning(identity))).toEqual([]);
  expect(home.processes()).toEqual([]);
  expect((await home.ok(["session", "resume", "frozen", "--json"])).code).toBe(0);
  expect((await home.show("healthy")).state).toBe("stopped");
});

it("ps --force-stop without a daemon ends workers that outlived it", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const worker = home.worker(row);
  await home.kill(home.daemon());
  expect((await home.agent(["ps", "--force-stop", "--yes"])).code).toBe(0);
  expect(isRunning(worker)).toBe(false);
  expect(home.processes()).toEqual([]);
});

it("ps --force-stop touches no other home", async () => {
  await using home = await Home.open();
  await using other = await Home.open();
  const row = await other.newSession("s");
  await home.newSession("s");
  expect((await home.agent(["ps", "--force-stop", "--yes"])).code).toBe(0);
  expect(await other.show("s")).toMatchObject({ state: "ready", pid: row.pid });
});
