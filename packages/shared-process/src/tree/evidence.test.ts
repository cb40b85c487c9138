import { describe, expect, it } from "vitest";
import { FakeProcessTable } from "../testing/index.ts";
import type { ProcessIdentity, ProcessObserver } from "../types.ts";
import { findTree } from "./find.ts";
import { end, environment, GROUP, groupOf, marker, observers } from "./tree.testing.ts";

function identityOf(observer: ProcessObserver, pid: number): ProcessIdentity {
  const seen = observer.identify(pid);
  if (seen.kind !== "identified") throw new Error(seen.why);
  return seen.identity;
}

const isSupervisor = ({ command }: { readonly command: string }): boolean => command === "holdfastd";
const signalled = (table: FakeProcessTable): number[] => [...new Set(table.delivered.map(({ pid }) => pid))];

describe.each(Object.entries(observers))("endTree with %s", (_name, observerOf) => {
  it("gets the descendants of a root that dropped their environment, and nobody else", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20 });
    table.start({ pid: 21, ppid: 20 });
    table.start({ pid: 22, ppid: 21 });
    table.start({ pid: 23 });
    const observer = observerOf(table);
    const report = await end(table, { root: identityOf(observer, 20), observer });
    expect(report).toMatchObject({ ended: 3, remaining: [], scan: "complete", unproven: { processes: [] } });
    expect(signalled(table)).toEqual([20, 21, 22]);
  });

  it("knows whom the end of a parent tore off by the identity from before the first signal", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment });
    table.start({ pid: 21, ppid: 20, ignores: ["SIGTERM"] });
    table.start({ pid: 22, ppid: 21, ignores: ["SIGTERM"] });
    const report = await end(table, { observer: observerOf(table) });
    expect(report).toMatchObject({ ended: 3, remaining: [] });
    expect(table.delivered.filter(({ signal }) => signal === "SIGKILL").map(({ pid }) => pid)).toEqual([21, 22]);
  });

  it("knows whom an earlier look has found, after their parents' end, and nobody who has their numbers by now", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20 });
    for (const pid of [21, 22, 23]) table.start({ pid, ppid: 20, command: pid === 23 ? "tmux" : "sleep" });
    const observer = observerOf(table);
    const { processes } = findTree({ root: identityOf(observer, 20), observer, ports: table });
    table.reap(20);
    for (const pid of [21, 23]) table.change(pid, { ppid: 1 });
    table.start({ pid: 22, startTicks: "9000" });
    table.start({ pid: 24, ppid: 21 });
    const report = await end(table, { marker, known: processes, observer });
    expect(report).toMatchObject({ ended: 2, remaining: [], kept: [{ command: "tmux" }] });
    expect(signalled(table).toSorted((a, b) => a - b)).toEqual([21, 24]);
  });

  it("I145 reports who is in the session or group that an ended root led, and signals nobody by its number alone", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20 });
    table.start({ pid: 21, ppid: 1, pgrp: 20, session: 20 });
    table.start({ pid: 22, ppid: 1, pgrp: 22, session: 20 });
    const observer = observerOf(table);
    const root = identityOf(observer, 20);
    table.reap(20);
    const report = await end(table, { root, observer });
    const unproven = report.unproven.processes.map(({ identity, why }) => [identity.pid, why]);
    expect(unproven).toEqual([21, 22].map((pid) => [pid, "evidence-lost"]));
    expect(signalled(table)).toEqual([]);
  });

  it("I97 I145 with a handle from before a root's end knows its session and group by it, and nobody who has its number", async () => {
    for (const numberIs of ["free", "another's"] as const) {
      const table = new FakeProcessTable();
      table.start({ pid: 20 });
      table.start({ pid: 21, ppid: 1, pgrp: 20, session: 20 });
      table.start({ pid: 22, ppid: 1, pgrp: 22, session: 20 });
      const observer = observerOf(table);
      const opened = observer.open(identityOf(observer, 20));
      if (opened.kind !== "opened") throw new Error(opened.kind);
      using root = opened.handle;
      table.reap(20);
      if (numberIs === "another's") table.start({ pid: 20, startTicks: "9000" });
      const isProven = numberIs === "free" && observer.capabilities().boundGroupSignals;
      expect(root.holdsNumber()).toBe(isProven);
      const report = await end(table, { root, observer });
      expect(signalled(table)).toEqual(isProven ? [21, 22] : []);
      expect(report.ended).toBe(isProven ? 2 : 0);
      expect(root.holdsNumber()).toBe(false);
    }
  });

  it("takes a handle of the root as well, and leaves it open", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20 });
    table.start({ pid: 21, ppid: 20 });
    const observer = observerOf(table);
    const opened = observer.open(identityOf(observer, 20));
    if (opened.kind !== "opened") throw new Error(opened.kind);
    expect(await end(table, { root: opened.handle, observer })).toMatchObject({ ended: 2, remaining: [] });
    expect(opened.handle.verdict()).toMatchObject({ kind: "gone" });
    opened.handle[Symbol.dispose]();
    expect(table.openCount).toBe(0);
  });

  it("I96 gets the members of a group whose leader has ended, while one that was in it before still is", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20 });
    table.start({ pid: 21, pgrp: 20, session: 20, ignores: ["SIGTERM"] });
    const observer = observerOf(table);
    let forked = false;
    const report = await end(table, { root: identityOf(observer, 20), observer }, () => {
      // The leader is gone by now. The newcomer has neither a parent nor an environment that speaks for it.
      if (!forked && !table.has(20)) table.start({ pid: 30, pgrp: 20, session: 20 });
      forked ||= !table.has(20);
    });
    expect(report).toMatchObject({ ended: 3, remaining: [] });
    expect(signalled(table)).toEqual([20, 21, 30]);
  });

  it("I96 touches no group that has the number of an ended leader once nobody of the tree was left in it", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20 });
    table.start({ pid: 21, ppid: 20, ignores: ["SIGTERM"] });
    const observer = observerOf(table);
    let recycled = false;
    await end(table, { root: identityOf(observer, 20), observer }, () => {
      if (recycled || table.has(20)) return;
      recycled = true;
      table.start({ pid: 20, command: "stranger", startTicks: "2000" });
      table.start({ pid: 31, ppid: 20, pgrp: 20, session: 20 });
    });
    expect(table.delivered.filter(({ pid }) => pid === 31)).toEqual([]);
    expect(table.delivered.filter(({ pid }) => pid === 20)).toHaveLength(1);
  });

  it("I97 takes a zombie leader for ended, and its number for its own", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20 });
    table.start({ pid: 21, pgrp: 20, session: 20 });
    const observer = observerOf(table);
    const root = identityOf(observer, 20);
    table.end(20);
    expect(await end(table, { root, observer })).toMatchObject({ ended: 1, remaining: [] });
    expect(signalled(table)).toEqual([21]);
  });

  it("I131 takes nothing from a root that is another process by now", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20 });
    const observer = observerOf(table);
    const root = identityOf(observer, 20);
    table.start({ pid: 20, command: "stranger", startTicks: "2000" });
    table.start({ pid: 21, ppid: 20, pgrp: 20, session: 20 });
    expect(await end(table, { root, observer })).toMatchObject({ ended: 0, remaining: [], scan: "complete" });
    expect(table.delivered).toEqual([]);
  });

  it("spares the caller, process 1 and the caller's own session and group", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 1, ppid: 0, environment });
    table.start({ pid: 20 });
    table.change(table.pid, { ppid: 20, session: 20, pgrp: 20, environment });
    table.start({ pid: 21, session: 20, pgrp: 20 });
    table.start({ pid: 22, ppid: table.pid });
    const observer = observerOf(table);
    await end(table, { root: identityOf(observer, 20), marker, observer });
    expect(signalled(table)).toEqual([20]);
  });

  it("I145 gets by its cgroup what has nothing else to be known by, and removes the group", async () => {
    const table = new FakeProcessTable();
    const { cgroup, groups } = groupOf(table);
    table.start({ pid: 20, cgroup: GROUP });
    table.start({ pid: 21 });
    const report = await end(table, { cgroup, observer: observerOf(table) });
    expect(report).toMatchObject({ ended: 1, remaining: [], cgroup: "removed" });
    expect(signalled(table)).toEqual([20]);
    expect(groups.groups).toEqual([]);
  });

  it("kills a cgroup in one step after the grace, with what was forked since the look", async () => {
    const table = new FakeProcessTable();
    const { cgroup } = groupOf(table);
    table.start({ pid: 20, cgroup: GROUP, ignores: ["SIGTERM"] });
    let pid = 30;
    table.beforeCall = (call) => {
      // It forks with each look that is taken at it.
      if (call === "/proc/20/stat" && table.has(20))
        table.start({ pid: (pid += 1), cgroup: GROUP, ignores: ["SIGTERM"] });
    };
    const report = await end(table, { cgroup, observer: observerOf(table) });
    expect(report).toMatchObject({ remaining: [], cgroup: "removed" });
    expect(report.tookMs).toBeLessThan(700);
  });

  it("does not kill a cgroup in which somebody is to live", async () => {
    const table = new FakeProcessTable();
    const { cgroup, groups } = groupOf(table);
    table.start({ pid: 20, cgroup: GROUP, ignores: ["SIGTERM"] });
    table.start({ pid: 21, cgroup: GROUP, command: "tmux: server" });
    table.start({ pid: 22, cgroup: GROUP, ppid: 21 });
    table.start({ pid: 23, cgroup: GROUP, command: "holdfastd" });
    table.start({ pid: 24, cgroup: GROUP, ppid: 23 });
    table.change(table.pid, { cgroup: GROUP });
    const report = await end(table, { cgroup, spare: isSupervisor, observer: observerOf(table) });
    expect(report).toMatchObject({ ended: 1, remaining: [], cgroup: "in-use" });
    expect(report.kept.map(({ identity }) => identity.pid)).toEqual([21, 22]);
    expect(signalled(table)).toEqual([20]);
    expect(groups.groups).toEqual([GROUP]);
  });

  it("does not kill a cgroup that has another's group below it", async () => {
    const table = new FakeProcessTable();
    const { cgroup, groups } = groupOf(table);
    groups.makeDirectory(`${GROUP}/inner`);
    table.start({ pid: 20, cgroup: GROUP, ignores: ["SIGTERM"] });
    table.start({ pid: 21, cgroup: `${GROUP}/inner` });
    const report = await end(table, { cgroup, observer: observerOf(table) });
    expect(report).toMatchObject({ ended: 1, remaining: [], cgroup: "in-use" });
    expect(signalled(table)).toEqual([20]);
  });

  it("does not kill a cgroup that has members in another pid namespace, and says that it saw not everything", async () => {
    const table = new FakeProcessTable();
    const { cgroup, groups } = groupOf(table);
    table.start({ pid: 20, cgroup: GROUP, ignores: ["SIGTERM"] });
    groups.foreign.set(GROUP, 1);
    const report = await end(table, { cgroup, observer: observerOf(table) });
    expect(report).toMatchObject({ ended: 1, remaining: [], scan: "incomplete", cgroup: "in-use" });
    expect(groups.foreign.get(GROUP)).toBe(1);
  });

  it("does not kill a cgroup that has a hidden member, and says that it saw not everything", async () => {
    const table = new FakeProcessTable();
    const { cgroup } = groupOf(table);
    table.start({ pid: 20, cgroup: GROUP, ignores: ["SIGTERM"] });
    table.start({ pid: 21, cgroup: GROUP, unreadable: { stat: "ENOENT", status: "ENOENT", environ: "ENOENT" } });
    const report = await end(table, { cgroup, observer: observerOf(table) });
    expect(report).toMatchObject({ ended: 1, remaining: [], scan: "incomplete", cgroup: "in-use" });
    expect(signalled(table)).toEqual([20]);
  });

  it("holds at most 256 at a time and still ends them all", async () => {
    const table = new FakeProcessTable();
    for (let pid = 1_000; pid < 1_300; pid += 1) table.start({ pid, environment });
    const pidfds = table.pidfds();
    let most = 0;
    table.beforeCall = () => {
      most = Math.max(most, table.openCount + pidfds.openCount);
    };
    expect(await end(table, { observer: observerOf(table, pidfds) })).toMatchObject({ ended: 300, remaining: [] });
    expect(table.openCount + pidfds.openCount).toBe(0);
    expect(most).toBeLessThanOrEqual(258);
  });

  it("reports what runs and could not be proven, and does not signal it", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment });
    table.start({ pid: 21, ppid: 20, unreadable: { status: "EACCES", environ: "EACCES" } });
    let reads = 0;
    table.beforeCall = (call) => {
      // Its parent ends between the look at the table and the second look.
      if (call === "/proc/21/stat" && (reads += 1) === 2) table.reap(20);
    };
    const report = await end(table, { observer: observerOf(table) });
    expect(report.unproven.unreadable).toBe(1);
    expect(report.unproven.processes).toMatchObject([{ identity: { pid: 21 }, command: "node" }]);
    expect(table.delivered.filter(({ pid }) => pid === 21)).toEqual([]);
  });
});
