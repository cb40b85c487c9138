import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import { type SessionRow, errorCode, outputOf, parseRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

it("I128 frozen workers: stop --no-wait answers within its bound; stopped or archived, they go without a further command", async () => {
  await using home = await Home.open();
  const [row, other] = [await home.newSession("s"), await home.newSession("archived")];
  const workers = new Map([row, other].map((session) => [session, home.worker(session)]));
  for (const worker of workers.values()) home.freeze(worker);
  const gone = async (session: SessionRow, began: number): Promise<void> => {
    const worker = workers.get(session)!;
    const over = (): boolean => !isRunning(worker) && !existsSync(home.descriptorPath(session.sessionId));
    // 8 s of the contract, and the start of a command on a busy machine.
    await waitFor(over, "process and descriptor are gone", 9_500 - (performance.now() - began));
  };
  const began = performance.now();
  const result = await home.agent(["stop", "s", "--no-wait", "--json"]);
  // 2 s of the contract, and the start of a command on a busy machine.
  expect(performance.now() - began).toBeLessThan(3_500);
  expect([result.code, errorCode(result.stderr)]).toEqual([8, "stopping"]);
  const stopping = parseRow(result.stdout);
  expect(stopping).toMatchObject({ sessionId: row.sessionId, state: "stopping" });
  expect(Date.parse(stopping.killAt ?? "")).toBeGreaterThan(Date.parse("2020-01-01"));
  const archiving = performance.now();
  expect((await home.agent(["stop", "archived", "--archive", "--no-wait"])).code).toBe(8);
  await Promise.all([gone(row, began), gone(other, archiving)]);
  expect((await home.show("s")).state).toBe("stopped");
  expect(await home.show("archived")).toMatchObject({ lifecycle: "archived", state: "stopped", pid: null });
});

it("I129 a stopped session refuses prompts, resume brings it back with its transcript", async () => {
  await using home = await Home.open();
  await home.newSession("s", "--prompt", "echo one");
  expect((await home.agent(["stop", "s"])).code).toBe(0);
  expect((await home.agent(["stop", "s"])).code).toBe(0);
  const refused = await home.agent(["prompt", "s", "echo two", "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([5, "session_stopped"]);
  expect(parseRow((await home.ok(["session", "resume", "s", "--json"])).stdout).state).toBe("ready");
  expect((await home.ok(["prompt", "s", "echo three"])).stdout).toBe("three\n");
  expect(outputOf(await home.transcript("s"))).toBe("one\nthree\n");
});

it("I129 I130 no restart and no kill brings a stopped session back; an archived one comes back by resume", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  await home.newSession("old");
  await home.ok(["stop", "s"]);
  await home.ok(["stop", "old", "--archive"]);
  await home.ok(["daemon", "restart"]);
  expect((await home.show("s")).state).toBe("stopped");
  await home.kill(home.daemon());
  const live = await home.newSession("live");
  const states = (await home.list()).map(({ name, state }) => [name, state]);
  expect(states).toEqual([
    ["live", "ready"],
    ["s", "stopped"],
  ]);
  expect(home.processes().map(({ pid }) => pid)).toContain(live.pid);
  const archived = await home.agent(["prompt", "old", "true", "--json"]);
  expect([archived.code, errorCode(archived.stderr)]).toEqual([5, "session_archived"]);
  expect(parseRow((await home.ok(["session", "resume", "old", "--json"])).stdout)).toMatchObject({
    state: "ready",
    lifecycle: "live",
  });
});

it("I130 a stop intent survives kill -9 of the supervisor", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const worker = home.worker(row);
  home.freeze(worker);
  const result = await home.agent(["stop", "s", "--no-wait", "--archive", "--json"]);
  expect(result.code).toBe(8);
  await home.kill(home.daemon());
  await home.ok(["daemon", "start"]);
  await waitFor(() => !isRunning(worker), "the successor ends the worker", 12_000);
  const archived = async (): Promise<boolean> => (await home.show(row.sessionId)).lifecycle === "archived";
  await waitFor(archived, "the successor archives the session");
  expect(await home.list()).toEqual([]);
});

it("stop --force ends a command that ignores every signal it can", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const client = home.start(["prompt", "s", "trap '' TERM INT HUP; echo deaf; while :; do sleep 1; done"]);
  await client.untilPrinted("deaf");
  const began = performance.now();
  expect((await home.agent(["stop", "s", "--force"])).code).toBe(0);
  expect(performance.now() - began).toBeLessThan(6_000);
  expect((await client.result()).code).not.toBe(0);
  expect(home.processes().map(({ pid }) => pid)).toEqual([home.daemon().pid]);
});
