import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type Cgroup,
  createObserver,
  endTree,
  type EndTreeOptions,
  makeCgroup,
  type Marker,
  type OwnedProcess,
  type Signal,
  systemClock,
  systemIds,
  treeUsage,
  type TreeReport,
} from "../src/index.ts";
import { atEnd, eventually, start } from "./harness.ts";

const observers = {
  "the library": createObserver({ mode: "narrow" }),
  "narrow mode": createObserver({ mode: "narrow", library: "never" }),
};
const anyObserver = observers["narrow mode"];

/** One session's worth of processes; each of its sleeps has the session's own length, by which the test finds it. */
interface Session {
  readonly root: OwnedProcess;
  readonly marker: Marker;
  readonly cgroup: Cgroup | null;
  readonly running: () => number[];
}

let lastSeconds = 100_000 + (process.pid % 10_000) * 10;

/** `sleep` in the script becomes the session's own. It begins once it is in its cgroup, if it gets one. */
async function session(script: string, inCgroup: boolean): Promise<Session> {
  const seconds = String((lastSeconds += 1));
  const marker = { name: "HOLDFAST_SESSION", value: systemIds.newToken() };
  const made = inCgroup ? makeCgroup(`holdfast-test-${systemIds.newGeneration()}`) : null;
  const cgroup = made?.kind === "made" ? made.cgroup : null;
  const shell = `read _; ${script.replaceAll("sleep", `sleep ${seconds}`)}`;
  const root = await start("sh", ["-c", shell], { [marker.name]: marker.value });
  const running = (): number[] => pidsOf(["sleep", seconds]);
  atEnd(async () => {
    cgroup?.kill();
    for (const pid of running()) signalNow(pid, "SIGKILL");
    await cgroup?.whenEmpty({ clock: systemClock, withinMs: 2_000 });
    cgroup?.remove();
  });
  const added = cgroup?.add(root.identity.pid);
  if (added?.kind === "failed") throw new Error(added.reason);
  root.stdin.write("go\n");
  return { root, marker, cgroup, running };
}

function signalNow(pid: number, signal: Signal): void {
  const seen = anyObserver.identify(pid);
  if (seen.kind === "identified") anyObserver.signal(seen.identity, signal);
}

function pidsOf(command: readonly string[]): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => argumentsOf(name).join(" ") === command.join(" "))
    .map(Number);
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0").slice(0, -1);
  } catch {
    return [];
  }
}

const isSupervisor = ({ command }: { readonly command: string }): boolean => command === "holdfastd";

const ways = Object.entries(observers).flatMap(([name, observer]) => [
  { title: `a cgroup and ${name}`, observer, inCgroup: true },
  { title: `${name} alone`, observer, inCgroup: false },
]);

describe.each(ways)("endTree with $title", ({ observer, inCgroup }) => {
  const end = ({ marker, cgroup }: Session, options: Partial<EndTreeOptions> = {}): Promise<TreeReport> =>
    endTree({ marker, cgroup, graceMs: 1_000, keep: ["tmux"], observer, ...options });

  it.each([
    ["plain children", "sleep & sleep", 2],
    ["children in sessions of their own", "setsid sleep & sleep", 2],
    ["grandchildren whose parents have ended", "(setsid sh -c 'sleep & sleep' &); sleep", 3],
    ["children without an environment", "env -i sleep & sleep", 2],
    ["children without an environment in a session of their own", "env -i setsid sleep & sleep", 2],
    ["grandchildren without an environment whose parents have ended", "(env -i sleep &); sleep", 2],
  ])("I145 gets %s, and nothing else", async (_title, script, count) => {
    const canary = await start("sleep", ["100"]);
    const tree = await session(script, inCgroup);
    await eventually(() => tree.running().length === count, "all of them run");
    const report = await end(tree);
    expect(report).toMatchObject({ kept: [], remaining: [], scan: "complete", unproven: { processes: [] } });
    expect(report.ended).toBeGreaterThanOrEqual(count);
    expect(tree.running()).toEqual([]);
    expect(report.cgroup).toBe(tree.cgroup === null ? null : "removed");
    await tree.root.exited;
    expect(anyObserver.verdict(canary.identity).kind).toBe("current");
  });

  it("gets by its cgroup alone what has left parents, session and environment behind; without one it is not found", async () => {
    const tree = await session("(env -i setsid sleep &); sleep", inCgroup);
    await eventually(() => tree.running().length === 2, "both run");
    await end(tree);
    expect(tree.running()).toHaveLength(tree.cgroup === null ? 1 : 0);
  });

  it("finds the same by a root without a marker, also after the root was killed on the way", async () => {
    const tree = await session("env -i setsid sleep & trap '' TERM; sleep & (env -i sleep &); wait", inCgroup);
    await eventually(() => tree.running().length === 3, "all three run");
    const report = endTree({ root: tree.root.identity, graceMs: 300, keep: [], observer });
    await tree.root.signal("SIGKILL");
    expect(await report).toMatchObject({ remaining: [], scan: "complete" });
    expect(tree.running()).toEqual([]);
  });

  it("I145 finds what was left behind when its leader was killed first", async () => {
    const tree = await session("setsid sleep & sleep & sleep", inCgroup);
    await eventually(() => tree.running().length === 3, "all three run");
    await tree.root.signal("SIGKILL");
    await tree.root.exited;
    expect(await end(tree)).toMatchObject({ ended: 3, remaining: [] });
    expect(tree.running()).toEqual([]);
  });

  it("kills what ignores SIGTERM and what is stopped, after the grace", async () => {
    const tree = await session("sleep & sleep & trap '' TERM; sleep & wait; wait; wait", inCgroup);
    await eventually(() => tree.running().length === 3, "all three run");
    for (const pid of tree.running()) signalNow(pid, "SIGSTOP");
    const report = await end(tree, { graceMs: 100 });
    expect(report).toMatchObject({ ended: 4, remaining: [], scan: "complete" });
    expect((await tree.root.exited).status).toEqual({ signal: "SIGKILL" });
    expect(tree.running()).toEqual([]);
  });

  it("leaves kept programs and what runs below them, until it is forced", async () => {
    const tree = await session("sh -c 'printf tmux > /proc/self/comm; sleep & wait' & sleep", inCgroup);
    await eventually(() => tree.running().length === 2, "both run");
    const report = await end(tree, { graceMs: 100 });
    expect(report.remaining).toEqual([]);
    expect(report.kept.map(({ command }) => command).toSorted()).toEqual(["sleep", "tmux"]);
    expect(report.cgroup).toBe(tree.cgroup === null ? null : "in-use");
    expect(tree.running()).toHaveLength(1);
    expect(await end(tree, { force: true })).toMatchObject({ ended: 2, kept: [] });
    expect(tree.running()).toEqual([]);
  });

  it("I153 spares a nested program with everything below it, also by force", async () => {
    const tree = await session("sh -c 'printf holdfastd > /proc/self/comm; env -i sleep & wait' & sleep", inCgroup);
    await eventually(() => tree.running().length === 2, "both run");
    expect(await end(tree, { graceMs: 100, force: true, spare: isSupervisor })).toMatchObject({
      kept: [],
      remaining: [],
    });
    expect(tree.running()).toHaveLength(1);
  });

  it("ends 200 processes, half of which ignore SIGTERM", async () => {
    const hundred = "i=0; while [ $i -lt 100 ]; do sleep & i=$((i+1)); done";
    const tree = await session(`${hundred}; trap '' TERM; ${hundred}; wait`, inCgroup);
    await eventually(() => tree.running().length === 200, "all of them run", 20_000);
    const report = await end(tree, { graceMs: 200 });
    expect(report).toMatchObject({ ended: 201, remaining: [], scan: "complete" });
    expect(tree.running()).toEqual([]);
  });

  it("ends what forks anew whatever is ended", async () => {
    const bomb = "trap '' TERM; while :; do sh -c 'sleep & sleep & wait'; done";
    const tree = await session(bomb, inCgroup);
    await eventually(() => tree.running().length === 2, "it has begun");
    expect(await end(tree, { graceMs: 200 })).toMatchObject({ remaining: [], scan: "complete" });
    expect(tree.running()).toEqual([]);
  });
});

const memory = (pid: number): number => treeUsage(pid)?.rssBytes ?? 0;

describe("treeUsage", () => {
  it("of this process is that of a program that has run for a while, and counts its children", async () => {
    const shell = await start("sh", ["-c", "sleep 100 & wait"]);
    await eventually(() => memory(shell.identity.pid) > 0, "the shell runs");
    expect(memory(process.pid)).toBeGreaterThan(memory(shell.identity.pid) + 10_000_000);
    const usage = treeUsage(process.pid);
    expect(usage?.cpuSeconds).toBeGreaterThan(0);
    expect(usage?.ageSeconds).toBeGreaterThan(0);
    expect(usage?.ageSeconds).toBeLessThan(600);
    await shell.signalGroup("SIGKILL");
    await shell.exited;
    expect(treeUsage(shell.identity.pid)).toBeNull();
  });
});
