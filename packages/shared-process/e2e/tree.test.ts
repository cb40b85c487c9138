import { describe, expect, it } from "vitest";
import { type EndMarkedOptions, endMarked, scanMarked, systemClock, systemIds, treeUsage } from "../src/index.ts";
import { eventually, observer, start } from "./harness.ts";

const newMarker = (): { name: string; value: string } => ({ name: "HOLDFAST_SESSION", value: systemIds.newToken() });
const end = (options: Pick<EndMarkedOptions, "marker"> & Partial<EndMarkedOptions>): ReturnType<typeof endMarked> =>
  endMarked({ graceMs: 1_000, keep: ["tmux"], force: false, observer, clock: systemClock, ...options });

const memory = (pid: number): number => treeUsage(pid)?.rssBytes ?? 0;

describe("endMarked", () => {
  it("I145 gets plain, setsid and double-forked descendants, and nothing else", async () => {
    const marker = newMarker();
    const canary = await start("sleep", ["100"], { HOLDFAST_SESSION: `${marker.value}x` });
    const shell = "setsid sleep 101 & (setsid sh -c 'sleep 102 & sleep 103' &) ; sleep 104";
    const root = await start("sh", ["-c", shell], { HOLDFAST_SESSION: marker.value });
    await eventually(() => scanMarked(marker).processes.length === 6, "all six processes run");
    const members = scanMarked(marker).processes;
    const report = await end({ marker });
    expect(report).toEqual({ ended: 6, kept: [], remaining: [], scan: "complete" });
    await root.exited;
    for (const { identity } of members) expect(observer.verdict(identity).kind).toBe("gone");
    expect(observer.verdict(canary.identity).kind).toBe("current");
  });

  it("I145 finds what was left behind when its leader was killed first", async () => {
    const marker = newMarker();
    const root = await start("sh", ["-c", "setsid sleep 101 & sleep 102"], { HOLDFAST_SESSION: marker.value });
    await eventually(() => scanMarked(marker).processes.length === 3, "all three processes run");
    await root.signal("SIGKILL");
    await root.exited;
    expect(await end({ marker })).toMatchObject({ ended: 2, remaining: [] });
    expect(scanMarked(marker).processes).toEqual([]);
  });

  it("kills what ignores SIGTERM and what is stopped, after the grace", async () => {
    const marker = newMarker();
    const env = { HOLDFAST_SESSION: marker.value };
    const deaf = await start("sh", ["-c", 'trap "" TERM; echo ready; sleep 100; sleep 100'], env);
    const stopped = await start("sleep", ["100"], env);
    for await (const _ of deaf.stdout) break;
    await stopped.signal("SIGSTOP");
    expect(await end({ marker, graceMs: 100 })).toMatchObject({ remaining: [], scan: "complete" });
    expect((await deaf.exited).status).toEqual({ signal: "SIGKILL" });
    expect((await stopped.exited).status).toEqual({ signal: "SIGKILL" });
  });

  it("leaves kept programs and what runs below them, until it is forced", async () => {
    const marker = newMarker();
    const shell = "printf tmux > /proc/self/comm; sleep 100 & wait";
    const kept = await start("sh", ["-c", shell], { HOLDFAST_SESSION: marker.value });
    await eventually(() => scanMarked(marker).processes.length === 2, "both processes run");
    const report = await end({ marker });
    expect(report).toMatchObject({ ended: 0, remaining: [] });
    expect(report.kept.map(({ command }) => command).toSorted()).toEqual(["sleep", "tmux"]);
    expect(observer.verdict(kept.identity).kind).toBe("current");
    expect(await end({ marker, force: true })).toMatchObject({ ended: 2, kept: [] });
  });
});

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
