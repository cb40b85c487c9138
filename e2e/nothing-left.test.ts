import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Running } from "./support/command.ts";
import { Home } from "./support/home.ts";
import { identityOf, isRunning } from "./support/processes.ts";
import { waitFor } from "./support/wait-for.ts";

it("I145 I131 stop ends children that left for sessions of their own, and nobody else", async () => {
  await using home = await Home.open({ forceStop: true });
  const innocent = new Running(["sleep", "4321"], { env: {} });
  try {
    const row = await home.newSession("s");
    await home.ok(["prompt", "s", "setsid sleep 4321 & (setsid sh -c 'sleep 4322 & sleep 4323' &); sleep 4324 &"]);
    const sleeps = (): number[] =>
      home.processes().flatMap(({ command, pid }) => (command.startsWith("sleep 43") ? [pid] : []));
    await waitFor(() => sleeps().length === 4, "the four children run");
    await home.ok(["stop", "s"]);
    expect(sleeps()).toEqual([]);
    const left = home.processes().map(({ pid }) => pid);
    expect(left).toEqual([home.daemon().pid]);
    expect(isRunning({ pid: row.pid ?? 0, startTicks: "" })).toBe(false);
    const other = identityOf(innocent.pid);
    expect(other && isRunning(other)).toBe(true);
  } finally {
    innocent.killGroup();
  }
});

it("I145 after stop and daemon stop no process, descriptor, socket or lifeline is left", async () => {
  await using home = await Home.open({ forceStop: true });
  for (const name of ["a", "b"]) await home.newSession(name, "--prompt", "echo hi");
  const sockets = (): string[] => readdirSync(join(home.path, "run")).filter((name) => name.endsWith(".sock"));
  expect(sockets()).toHaveLength(3);
  await home.ok(["stop", "a"]);
  await home.ok(["stop", "b"]);
  expect(readdirSync(join(home.path, "workers"))).toEqual([]);
  expect(sockets()).toHaveLength(1);
  await home.ok(["daemon", "stop"]);
  await waitFor(() => home.processes().length === 0, "the daemon has ended");
  // Kept on purpose, for a disk that is full one day.
  expect(readdirSync(join(home.path, "run"))).toEqual(["reserve"]);
});

it("I145 the daemon's descriptors and the files of the home return to their number after five rounds", async () => {
  await using home = await Home.open({ forceStop: true });
  await home.newSession("first");
  await home.ok(["stop", "first"]);
  const open = (): number => readdirSync(`/proc/${home.daemon().pid}/fd`).length;
  const files = (): number => readdirSync(join(home.path, "run")).length;
  const before = [open(), files()];
  for (let round = 0; round < 5; round += 1) {
    await home.newSession(`r${round}`, "--prompt", "true");
    await home.ok(["stop", `r${round}`]);
  }
  await waitFor(() => open() <= (before[0] ?? 0), `descriptors: ${before[0]} before`);
  expect(files()).toBe(before[1]);
}, 90_000);
