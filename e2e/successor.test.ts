import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { cgroupOf } from "./support/cgroups.ts";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import type { SessionRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";
import { bundlesOf, commandWithoutLibrary } from "./support/without-library.ts";

interface Owner {
  readonly epoch: number;
  readonly phase: string;
}

const owner = (home: Home): Owner => {
  const record: Owner = JSON.parse(readFileSync(home.ownerPath(), "utf8"));
  return record;
};

/** What a worker says for itself. */
function workerLog(home: Home, { sessionId }: SessionRow): string {
  const path = join(home.path, "logs", `worker-${sessionId}.err`);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

const tries = (home: Home): string[] =>
  readdirSync(join(home.path, "run")).filter((name) => name.startsWith("successor-"));

/** A turn that runs until the test lets it end. */
async function working(home: Home, name: string): Promise<{ row: SessionRow; finish: () => void }> {
  const row = await home.newSession(name);
  const go = join(home.files, `go-${name}`);
  const begun = join(home.files, `begun-${name}`);
  await home.ok(["prompt", name, "--no-wait", `touch ${begun}; until [ -e ${go} ]; do sleep 0.05; done; echo done`]);
  await waitFor(() => existsSync(begun), `the turn of ${name} runs`);
  return { row, finish: () => writeFileSync(go, "") };
}

const serves = (home: Home, after: number): boolean => {
  const { epoch, phase } = owner(home);
  return epoch > after && phase === "serving";
};

it("I135 kill -9 of the supervisor in a turn, and no command: one successor comes, adopts every worker, and outlives its starter", async () => {
  await using home = await Home.open();
  const sessions = [await working(home, "a"), await working(home, "b"), await working(home, "c")];
  const idle = await home.newSession("idle");
  const workers = [...sessions.map(({ row }) => row), idle].map((row) => home.worker(row));
  const { epoch } = owner(home);
  await home.kill(home.daemon());
  await waitFor(() => serves(home, epoch), "a successor serves", 20_000);
  expect(owner(home).epoch).toBe(epoch + 1);
  const daemon = home.daemon();
  await home.untilState("a", "ready");
  await home.untilState("idle", "ready");
  expect(new Set((await home.list()).map(({ pid }) => pid))).toEqual(new Set(workers.map(({ pid }) => pid)));
  expect(home.daemon()).toEqual(daemon);
  await waitFor(() => home.supervisors().length === 1, "whoever lost the race is gone");
  const starter = sessions.find(({ row }) => workerLog(home, row).includes("starting another, try 1 of 5"));
  expect(starter).toBeDefined();
  const { name } = starter?.row ?? idle;
  // The supervisor is a child of that worker, and a stop ends a worker's whole tree.
  expect((await home.agent(["stop", name ?? "", "--force"])).code).toBe(0);
  expect(isRunning(daemon)).toBe(true);
  for (const { finish } of sessions) finish();
  for (const other of ["a", "b", "c"].filter((one) => one !== name))
    expect((await home.ok(["prompt", other, "echo on"])).stdout).toBe("on\n");
  expect(home.daemon()).toEqual(daemon);
}, 60_000);

it("a daemon that was stopped stays stopped: its workers look, and bring nobody back", async () => {
  await using home = await Home.open();
  const { row, finish } = await working(home, "s");
  const worker = home.worker(row);
  await home.ok(["daemon", "stop", "--keep-workers"]);
  const stopped = owner(home);
  await waitFor(() => workerLog(home, row).includes("it was stopped; it is waited for"), "the worker has looked");
  expect(owner(home)).toEqual(stopped);
  expect([stopped.phase, home.supervisors(), tries(home)]).toEqual(["stopped", [], []]);
  finish();
  expect((await home.ok(["prompt", "s", "echo on"])).stdout).toBe("on\n");
  expect(home.worker(row)).toEqual(worker);
}, 60_000);

it("I154 a successor that ends at once was one try of all workers together, and the next one serves", async () => {
  await using home = await Home.open();
  const agent = commandWithoutLibrary(onTestFinished);
  const run = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await home.run([process.execPath, agent, ...args]).result();
    if (code !== 0) throw new Error(`agent ${args.join(" ")}: exit ${code}: ${stderr}`);
  };
  await run("daemon", "start");
  const sessions = [await working(home, "a"), await working(home, "b")];
  const supervisor = join(bundlesOf(agent), "supervisor.js");
  const count = join(home.files, "starts");
  renameSync(supervisor, `${supervisor}.whole`);
  const [said, whole, own] = [count, `${supervisor}.whole`, supervisor].map((path) => JSON.stringify(path));
  // Once: it puts the whole one in its own place.
  const ends = `fs.appendFileSync(${said}, "x"); fs.renameSync(${whole}, ${own}); process.exit(1);`;
  writeFileSync(supervisor, `const fs = require("node:fs"); ${ends}\n`);
  const { epoch } = owner(home);
  await home.kill(home.daemon());
  await waitFor(() => serves(home, epoch), "a successor serves", 30_000);
  expect([owner(home).epoch, readFileSync(count, "utf8")]).toEqual([epoch + 1, "x"]);
  const logs = sessions.map(({ row }) => workerLog(home, row)).join("");
  expect(logs).toContain('ended: {"code":1}');
  expect(logs).toContain("starting another, try 2 of 5");
  for (const { finish } of sessions) finish();
  await run("prompt", "a", "true");
}, 60_000);

it("I146 a home that is removed takes its busy worker, its agent and all that they have along at once", async () => {
  await using home = await Home.open();
  const { row } = await working(home, "s");
  const cgroup = cgroupOf(home, row.sessionId);
  // In one step: what is alive in it fills it again.
  const removed = join(home.root, "removed");
  renameSync(home.path, removed);
  rmSync(removed, { recursive: true });
  await waitFor(() => home.processes().length === 0, "nothing of it runs");
  expect([existsSync(home.path), cgroup !== null && existsSync(cgroup)]).toEqual([false, false]);
}, 60_000);
