import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Result } from "./support/command.ts";
import { Home } from "./support/home.ts";
import { isFrozen, isRunning, signal } from "./support/processes.ts";
import { outputOf, parseRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

it("I37 I38 a worker that ends by itself: its record goes once it is gone, and the next prompt brings it back", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s", "--prompt", "echo one");
  const worker = home.worker(row);
  signal(worker, "SIGTERM");
  await home.untilState("s", "passivated");
  expect(isRunning(worker)).toBe(false);
  expect(existsSync(home.descriptorPath(row.sessionId))).toBe(false);
  expect((await home.ok(["prompt", "s", "echo two"])).stdout).toBe("two\n");
});

it("a worker that ends by itself with work in its queue is replaced, and the work goes on in its order", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const client = home.start(["prompt", "s", "echo begun; sleep 600"]);
  await client.untilPrinted("begun");
  await home.ok(["session", "follow-up", "s", "echo first"]);
  await home.ok(["session", "follow-up", "s", "echo second"]);
  signal(home.worker(row), "SIGTERM");
  // Interrupted and not run again: exit 8.
  expect((await client.result()).code).toBe(8);
  await home.ok(["wait", "s", "--for", "idle", "--timeout", "20s"]);
  expect(outputOf(await home.transcript("s"))).toBe("begun\nfirst\nsecond\n");
});

it("I24 I27 daemon stop --force does not wait for ever for a frozen worker: the intent is the successor's", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const worker = home.worker(row);
  home.freeze(worker);
  await waitFor(() => isFrozen(worker), "the worker is frozen");
  expect((await home.agent(["daemon", "stop", "--force"])).code).toBe(0);
  await home.ok(["daemon", "start"]);
  await waitFor(() => !isRunning(worker), "the worker is ended", 15_000);
  expect(await home.untilState("s", "passivated")).toMatchObject({ pid: null });
  expect((await home.ok(["prompt", "s", "echo back"])).stdout).toBe("back\n");
});

it("I23 a successor does not kill a worker under a stop that is under way: it is asked like any other", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const worker = home.worker(row);
  home.freeze(worker);
  await waitFor(() => isFrozen(worker), "the worker is frozen");
  expect((await home.agent(["stop", "s", "--no-wait"])).code).toBe(8);
  await home.kill(home.daemon());
  signal(worker, "SIGCONT");
  const began = home.start(["daemon", "start"]);
  await home.untilState("s", "stopped");
  expect((await began.result()).code).toBe(0);
  const status = JSON.parse((await home.ok(["daemon", "status", "--json"])).stdout);
  expect(status.counters).toMatchObject({ escalations: 0 });
  expect(isRunning(worker)).toBe(false);
});

it("I5 I41 I43 I45 I129 resumes side by side win over a stop with archive: one new worker for all, and nothing is archived", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s", "--prompt", "echo before");
  home.freeze(home.worker(row));
  expect((await home.agent(["stop", "s", "--archive", "--no-wait"])).code).toBe(8);
  const resume = async (): Promise<Result> => await home.agent(["session", "resume", row.sessionId, "--json"]);
  const resumes = await Promise.all(Array.from({ length: 4 }, resume));
  expect(resumes.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const shown = await home.show("s");
  expect(shown).toMatchObject({ state: "ready", lifecycle: "live" });
  expect(new Set(resumes.map(({ stdout }) => parseRow(stdout).pid))).toEqual(new Set([shown.pid]));
  const workers = home.processes().filter(({ command }) => command.includes("worker.js"));
  expect(workers.map(({ pid }) => pid)).toEqual([shown.pid]);
  expect(shown.generation).not.toBe(row.generation);
  expect((await home.ok(["prompt", "s", "echo after"])).stdout).toBe("after\n");
  expect(outputOf(await home.transcript("s"))).toBe("before\nafter\n");
});

function change(path: string, more: object): void {
  const record: object = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, `${JSON.stringify({ ...record, ...more })}\n`);
}

it("I130 a forced stop is still forced for the successor of a supervisor that was killed", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const worker = home.worker(row);
  home.freeze(worker);
  await home.kill(home.daemon());
  const stop = { stopId: randomUUID(), requestedAt: new Date().toISOString(), goal: "stop", force: true };
  change(join(home.path, "sessions", row.sessionId, "session.json"), { wanted: "stopped" });
  change(home.descriptorPath(row.sessionId), { stop });
  await home.ok(["daemon", "start"]);
  const began = performance.now();
  await waitFor(() => !isRunning(worker), "the worker is ended", 15_000);
  // 2 s to be reached, 0.5 s for SIGTERM; without force it would be 8 s.
  expect(performance.now() - began).toBeLessThan(6_000);
  await home.untilState("s", "stopped");
});
