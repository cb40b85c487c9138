import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import { psOf } from "./support/ps.ts";
import { errorCode } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

it("ps names the daemon and the workers with their verdicts, also when nothing runs", async () => {
  await using home = await Home.open({ forceStop: true });
  expect(await psOf(home)).toEqual({ daemons: [], workers: [], orphans: [], scan: { problems: [] } });
  const row = await home.newSession("s");
  const full = await psOf(home);
  const isDefault = true;
  expect(full.daemons).toMatchObject([{ pid: home.daemon().pid, status: "current", sessionCount: 1, isDefault }]);
  const worker = { sessionId: row.sessionId, name: "s", pid: row.pid, state: "ready", verdict: "current" };
  expect(full.workers).toMatchObject([worker]);
  expect(full.workers[0]?.memoryBytes).toBeGreaterThan(1_000_000);
  const text = (await home.ok(["ps"])).stdout;
  expect(text).toContain(String(row.pid));
  expect(text).toContain(String(home.daemon().pid));
});

it("ps shows the daemon and the workers of every home", async () => {
  await using home = await Home.open({ forceStop: true });
  await using other = await Home.open({ forceStop: true });
  const row = await other.newSession("s");
  const seen = await psOf(other, home);
  expect(seen.daemons).toMatchObject([{ pid: other.daemon().pid, status: "current", isDefault: false }]);
  expect(seen.workers).toMatchObject([{ pid: row.pid, name: "s", verdict: "current" }]);
});

it("ps finds a daemon in the foreground, whose environment names another home, by the lifeline that it holds", async () => {
  await using home = await Home.open({ forceStop: true });
  await using other = await Home.open({ forceStop: true });
  const running = other.start(["daemon", "run", "--home", other.path], { env: { HOLDFAST_HOME: home.path } });
  const isServing = async (): Promise<boolean> => (await other.agent(["daemon", "status"])).code === 0;
  await waitFor(isServing, "the daemon in the foreground answers");
  expect((await psOf(other, home)).daemons).toMatchObject([{ pid: running.pid, status: "current" }]);
  expect((await psOf(home)).daemons).toEqual([]);
});

it("I117 I104 a record that cannot be read is a problem, and what runs is shown all the same", async () => {
  await using home = await Home.open({ forceStop: true });
  await using other = await Home.open({ forceStop: true });
  const [row, bad] = [await other.newSession("s"), await other.newSession("bad")];
  const descriptor = readFileSync(other.descriptorPath(bad.sessionId));
  // A daemon that runs would write it again.
  await other.kill(other.daemon());
  writeFileSync(other.descriptorPath(bad.sessionId), "damage");
  const seen = await psOf(other, home);
  expect(seen.workers).toMatchObject([{ pid: row.pid }]);
  const workerId = bad.sessionId;
  expect(seen.orphans).toMatchObject([{ pid: bad.pid, workerId }, { workerId }]);
  expect(seen.scan.problems).toEqual([expect.stringContaining(bad.sessionId)]);
  expect((await home.agent(["ps", "--json"])).stdout).toContain('"complete":false');
  writeFileSync(other.descriptorPath(bad.sessionId), descriptor);
});

it("I131 ps takes the word of no process: neither a daemon nor a worker by name and environment alone", async () => {
  await using home = await Home.open({ forceStop: true });
  const env = { HOLDFAST_GENERATION: "0b0e4a3e-3c53-4b3f-8f3c-3d7f0c7f3a11", HOLDFAST_SESSION: "not-one-of-ours" };
  const daemon = "process.title = 'holdfastd'; setInterval(() => {}, 1e6); console.log('up')";
  const alike = home.run([process.execPath, "-e", daemon]);
  const worker = home.run([process.execPath, "-e", "setInterval(() => {}, 1e6); console.log('up')"], { env });
  for (const running of [alike, worker]) await running.untilPrinted("up");
  await home.newSession("s");
  const seen = await psOf(home);
  expect(seen.daemons.map(({ pid }) => pid)).toEqual([home.daemon().pid]);
  expect(seen.orphans).toEqual([expect.objectContaining({ pid: worker.pid, workerId: env.HOLDFAST_GENERATION })]);
  const done = await home.agent(["ps", "--force-stop", "--yes", "--json"]);
  expect([done.code, JSON.parse(done.stdout).kept]).toMatchObject([0, [{ kind: "process" }]]);
  expect([alike.hasEnded(), worker.hasEnded()]).toEqual([false, false]);
});

it("ps --force-stop without a terminal and without --yes touches nothing; with --yes it ends all", async () => {
  await using home = await Home.open({ forceStop: true });
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
  await using home = await Home.open({ forceStop: true });
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

it("I140 ps --force-stop ends a frozen daemon whose own record is empty, and its workers", async () => {
  await using home = await Home.open({ forceStop: true });
  const worker = home.worker(await home.newSession("s"));
  const daemon = home.daemon();
  home.freeze(daemon);
  truncateSync(home.ownerPath(), 0);
  expect((await home.agent(["ps", "--force-stop", "--yes"])).code).toBe(0);
  expect([daemon, worker].filter((identity) => isRunning(identity))).toEqual([]);
  expect((await home.show("s")).state).toBe("stopped");
});

it("I107 a forced stop has the home until its last worker is gone and its record with it: a start meanwhile waits", async () => {
  await using home = await Home.open({ forceStop: true });
  const row = await home.newSession("s");
  const worker = home.worker(row);
  const phase = (): { readonly epoch: number; readonly phase: string } =>
    JSON.parse(readFileSync(home.ownerPath(), "utf8"));
  // Ends by SIGKILL alone, so that the stop takes a while.
  home.freeze(worker);
  const stopping = home.start(["ps", "--force-stop", "--yes"]);
  await waitFor(() => phase().phase === "maintenance", "the home is taken");
  const { epoch } = phase();
  expect(isRunning(worker)).toBe(true);
  const starting = home.start(["daemon", "start"]);
  const seen = await waitFor(
    () =>
      phase().epoch > epoch && { runs: isRunning(worker), recorded: existsSync(home.descriptorPath(row.sessionId)) },
    "another daemon has the home",
    20_000,
  );
  expect(seen).toEqual({ runs: false, recorded: false });
  expect([(await stopping.result()).code, (await starting.result()).code]).toEqual([0, 0]);
  expect((await home.show("s")).state).toBe("stopped");
}, 60_000);

it("ps --force-stop without a daemon ends workers that outlived it", async () => {
  await using home = await Home.open({ forceStop: true });
  const row = await home.newSession("s");
  const worker = home.worker(row);
  await home.kill(home.daemon());
  expect((await home.agent(["ps", "--force-stop", "--yes"])).code).toBe(0);
  expect(isRunning(worker)).toBe(false);
  expect(home.processes()).toEqual([]);
});

it("ps --force-stop touches no other home", async () => {
  await using home = await Home.open({ forceStop: true });
  await using other = await Home.open({ forceStop: true });
  const row = await other.newSession("s");
  await home.newSession("s");
  const done = await home.agent(["ps", "--force-stop", "--yes"]);
  expect(done.code).toBe(0);
  expect(done.stderr).toMatch(/^not touched: \d+ workers? of other homes$/m);
  expect(await other.show("s")).toMatchObject({ state: "ready", pid: row.pid });
});

it("ps --force-stop cleans up after a worker that is gone, so that no daemon brings its session back", async () => {
  await using home = await Home.open({ forceStop: true });
  const row = await home.newSession("s");
  const worker = home.worker(row);
  await home.kill(home.daemon());
  await home.kill(worker);
  const done = await home.agent(["ps", "--force-stop", "--yes", "--json"]);
  const stopped = [{ kind: "descriptor", id: row.sessionId, pid: null }];
  expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { schemaVersion: 1, stopped, kept: [], failed: [] }]);
  await home.ok(["daemon", "start"]);
  expect((await home.show("s")).state).toBe("stopped");
});

it("I81 ps --force-stop keeps what a damaged record may name, and says why", async () => {
  await using home = await Home.open({ forceStop: true });
  const [row, bad] = [await home.newSession("s"), await home.newSession("bad")];
  const [worker, kept] = [home.worker(row), home.worker(bad)];
  const descriptor = readFileSync(home.descriptorPath(bad.sessionId));
  // A daemon that runs would write it again.
  await home.kill(home.daemon());
  writeFileSync(home.descriptorPath(bad.sessionId), "damage");
  const done = await home.agent(["ps", "--force-stop", "--yes", "--json"]);
  expect(done.code).toBe(0);
  const outcome = JSON.parse(done.stdout);
  expect(outcome.kept).toMatchObject([
    { kind: "descriptor", id: bad.sessionId, reason: "its descriptor is not JSON" },
    { kind: "process", reason: "a record that cannot be read may name it" },
    { kind: "process", reason: "a record that cannot be read may name it" },
  ]);
  expect([isRunning(worker), isRunning(kept)]).toEqual([false, true]);
  expect(readFileSync(home.descriptorPath(bad.sessionId), "utf8")).toBe("damage");
  writeFileSync(home.descriptorPath(bad.sessionId), descriptor);
});

it("ps --force-stop ends a worker that no record names any more, with its agent", async () => {
  await using home = await Home.open({ forceStop: true });
  const row = await home.newSession("s");
  await home.ok(["prompt", "s", "--no-wait", "sleep 600"]);
  const worker = home.worker(row);
  await home.kill(home.daemon());
  rmSync(home.descriptorPath(row.sessionId));
  expect((await psOf(home)).orphans).toContainEqual(
    expect.objectContaining({ pid: worker.pid, workerId: row.sessionId }),
  );
  const done = await home.agent(["ps", "--force-stop", "--yes", "--json"]);
  const process = { kind: "process", pid: worker.pid };
  expect([done.code, JSON.parse(done.stdout).stopped]).toEqual([
    0,
    expect.arrayContaining([expect.objectContaining(process)]),
  ]);
  // A successor that the worker had begun to start ends by itself: the epoch that it was to follow is over.
  await waitFor(() => home.processes().length === 0, "nobody is left");
  await home.ok(["daemon", "start"]);
  expect(await home.show("s")).toMatchObject({ state: "stopped" });
});

it("ps --force-stop from inside a session of its home does not end before its work is done", async () => {
  await using home = await Home.open({ forceStop: true });
  await home.newSession("s");
  await home.newSession("other");
  await home.ok([
    "prompt",
    "s",
    "--no-wait",
    `${home.shellCommand} ps --force-stop --yes --home ${home.path} > outcome 2>&1`,
  ]);
  await waitFor(() => home.processes().length === 0, "everything of the home has ended");
  expect(readFileSync(join(home.files, "outcome"), "utf8")).toContain("stopped 3, kept 0");
  expect((await home.list()).map(({ state }) => state)).toEqual(["stopped", "stopped"]);
});
