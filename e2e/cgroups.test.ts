import { existsSync, mkdirSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { agentPath } from "./support/command.ts";
import { cgroupOf, membersOf, readOnlyCgroups } from "./support/cgroups.ts";
import { Home } from "./support/home.ts";
import { everyProcess, type Found, isRunning } from "./support/processes.ts";
import { waitFor } from "./support/wait-for.ts";

/** By its arguments alone: its environment, which says whose it is, is gone. */
const running = (command: string): Found[] => everyProcess().filter((found) => found.command === command);

/** Numbers of seconds that no other test sleeps, so that a leftover is not taken for another's. */
let seconds = 70_000 + (process.pid % 9_000);
const newSleep = (): string => `sleep ${(seconds += 1)}`;

/** Starts something that no marker, no session and no parent ties to the session. */
async function escape(home: Home, session: string, command: string): Promise<Found> {
  await home.ok(["prompt", session, `(env -i setsid ${command} > /dev/null 2>&1 &)`]);
  return await waitFor(() => running(command)[0], `${command} runs`);
}

interface Left {
  readonly process: boolean;
  readonly cgroup: boolean;
}

/** What is there after the end; a process that is left is ended. */
async function leftOf(home: Home, found: Found, cgroup: string | null): Promise<Left> {
  const left = { process: isRunning(found), cgroup: cgroup !== null && existsSync(cgroup) };
  if (left.process) await home.kill(found);
  return left;
}

/** Where no cgroup can be made, what has left every trace behind survives: the stated limit. */
const expected = (cgroup: string | null): Left => ({ process: cgroup === null, cgroup: false });

it.each([
  ["a stop", ["session", "stop", "s"]],
  ["a forced stop", ["session", "stop", "s", "--force"]],
  ["ps --force-stop", ["ps", "--force-stop", "--yes"]],
])(
  "I145 %s ends what has dropped its environment, its session and its parent, and removes the cgroup",
  async (_t, stop) => {
    await using home = await Home.open({ forceStop: true });
    const { sessionId } = await home.newSession("s");
    const cgroup = cgroupOf(home, sessionId);
    const found = await escape(home, "s", newSleep());
    await home.ok(stop);
    expect(await leftOf(home, found, cgroup)).toEqual(expected(cgroup));
  },
);

it("I145 I136 a recovery ends it as well, and the next worker has a cgroup of its own", async () => {
  await using home = await Home.open({ forceStop: true });
  const row = await home.newSession("s");
  const cgroup = cgroupOf(home, row.sessionId);
  const found = await escape(home, "s", newSleep());
  await home.kill(home.worker(row));
  await waitFor(async () => {
    const { state, pid } = await home.show("s");
    return state === "ready" && pid !== row.pid;
  }, "the session has another worker");
  expect(await leftOf(home, found, cgroup)).toEqual(expected(cgroup));
  const next = cgroupOf(home, row.sessionId);
  expect([next === null, next === cgroup]).toEqual([cgroup === null, cgroup === null]);
});

async function keepSomething(home: Home): Promise<{ readonly found: Found; readonly cgroup: string | null }> {
  const { sessionId } = await home.newSession("s");
  const cgroup = cgroupOf(home, sessionId);
  await home.ok(["prompt", "s", "cp $(command -v sleep) ./tmux"]);
  const found = await escape(home, "s", newSleep().replace("sleep", "./tmux"));
  await home.ok(["session", "stop", "s"]);
  return { found, cgroup };
}

it("a kept program stays in its cgroup when its session is stopped, until it is ended by force", async () => {
  await using home = await Home.open({ forceStop: true });
  const { found, cgroup } = await keepSomething(home);
  expect(isRunning(found)).toBe(true);
  expect(cgroup !== null && membersOf(cgroup).includes(found.pid)).toBe(cgroup !== null);
  await home.ok(["ps", "--force-stop", "--yes"]);
  expect(await leftOf(home, found, cgroup)).toEqual(expected(cgroup));
});

it("the cgroup of a kept program that has ended is removed by the next daemon", async () => {
  await using home = await Home.open({ forceStop: true });
  const { found, cgroup } = await keepSomething(home);
  await home.kill(found);
  expect(cgroup !== null && existsSync(cgroup)).toBe(cgroup !== null);
  await home.ok(["daemon", "stop"]);
  await home.ok(["daemon", "start"]);
  expect(cgroup !== null && existsSync(cgroup)).toBe(false);
});

it("I145 a forced stop from another cgroup, without a daemon, ends what was kept in one and removes it", async () => {
  await using home = await Home.open({ forceStop: true });
  const { found, cgroup } = await keepSomething(home);
  await home.ok(["daemon", "stop"]);
  const other = cgroup === null ? null : join(dirname(cgroup), `other-${process.pid}`);
  if (other !== null) mkdirSync(other);
  const enter = other === null ? "" : `echo $$ > ${other}/cgroup.procs; `;
  const { code } = await home.shell(`${enter}$AGENT ps --force-stop --yes`);
  if (other !== null) rmdirSync(other);
  expect(code).toBe(0);
  expect(await leftOf(home, found, cgroup)).toEqual(expected(cgroup));
});

it("I145 a forced stop ends what was given a home and no marker, as Holdfast's own programs are", async () => {
  await using home = await Home.open({ forceStop: true });
  await home.newSession("s");
  const command = newSleep();
  await home.ok(["prompt", "s", `HOLDFAST_HOME=/h env -u HOLDFAST_SESSION setsid ${command} > /dev/null 2>&1 &`]);
  await waitFor(() => running(command).length === 1, "it runs");
  await home.ok(["session", "stop", "s", "--force"]);
  const left = running(command);
  for (const found of left) await home.kill(found);
  expect(left).toEqual([]);
});

it("I153 a daemon that was started inside a session is in its cgroup no more, and outlives its stop with its sessions", async () => {
  await using home = await Home.open({ forceStop: true });
  const inner = join(home.root, "inner");
  const within = ["--home", inner];
  const { sessionId } = await home.newSession("outer");
  const cgroup = cgroupOf(home, sessionId);
  const command = newSleep();
  const line = `${home.shellCommand} session new --home ${inner} --name inner --prompt '${command} > /dev/null 2>&1 &'`;
  await home.ok(["prompt", "outer", line]);
  const [found] = running(command);
  const status = JSON.parse((await home.ok(["daemon", "status", "--json", ...within])).stdout);
  expect(cgroup !== null && membersOf(cgroup).includes(status.pid)).toBe(false);
  await home.ok(["session", "stop", "outer"]);
  expect(cgroup !== null && existsSync(cgroup)).toBe(false);
  expect(JSON.parse((await home.ok(["daemon", "status", "--json", ...within])).stdout).pid).toBe(status.pid);
  expect(found !== undefined && isRunning(found)).toBe(true);
  await home.ok(["ps", "--force-stop", "--yes", ...within]);
});

it("a background process without an environment keeps its session from being passivated", async () => {
  await using home = await Home.open({ forceStop: true });
  await home.newSession("s");
  const command = newSleep();
  await home.ok(["prompt", "s", `env -i ${command} > /dev/null 2>&1 &`]);
  await waitFor(() => running(command).length === 1, "it runs");
  const refused = await home.agent(["session", "passivate", "s"]);
  expect([refused.code === 0, running(command).length]).toEqual([false, 1]);
  await home.ok(["session", "stop", "s"]);
  expect(running(command)).toEqual([]);
});

it.each([
  ["a stop", []],
  ["a forced stop", ["--force"]],
])(
  "I145 without a cgroup %s of a frozen worker ends what is still below its shell, whatever it has dropped",
  async (_t, force) => {
    await using home = await Home.open({ forceStop: true });
    const started = home.run([...readOnlyCgroups(), process.execPath, agentPath, "daemon", "start"]);
    expect((await started.result()).code).toBe(0);
    const row = await home.newSession("s");
    expect(cgroupOf(home, row.sessionId)).toBeNull();
    const [own, shell, below, torn] = [newSleep(), newSleep(), newSleep(), newSleep()];
    const lines = [
      `env -i setsid ${own} > /dev/null 2>&1 &`,
      `env -i sh -c "${below} & exec ${shell}" > /dev/null 2>&1 &`,
      `(env -i ${torn} > /dev/null 2>&1 &)`,
    ];
    await home.ok(["prompt", "s", lines.join("\n")]);
    const commands = [own, shell, below, torn];
    const found = await waitFor(() => {
      const all = commands.flatMap((command) => running(command)[0] ?? []);
      return all.length === commands.length && all;
    }, "all of them run");
    home.freeze(home.worker(row));
    await home.ok(["session", "stop", "s", ...force]);
    const left = found.filter((one) => isRunning(one));
    for (const one of left) await home.kill(one);
    expect(left).toEqual([]);
  },
);
