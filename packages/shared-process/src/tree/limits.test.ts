import { describe, expect, it } from "vitest";
import { damagedRecords } from "../damaged-records.testing.ts";
import { FakeProcessTable } from "../testing/index.ts";
import { findTree } from "./find.ts";
import { end, environment, GROUP, groupOf, marker, observers } from "./tree.testing.ts";

const signalled = (table: FakeProcessTable): number[] => [...new Set(table.delivered.map(({ pid }) => pid))];
const isSupervisor = ({ command }: { readonly command: string }): boolean => command === "holdfastd";

describe.each(Object.entries(observers))("endTree with %s", (name, observerOf) => {
  it("I96 takes nobody from a session whose last holder ended before the second look", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment });
    table.start({ pid: 21, environment, session: 20, ignores: ["SIGTERM"] });
    let looks = 0;
    table.beforeCall = (call) => {
      // After SIGTERM has ended the leader: the newcomer is of the session when the table is read, and a stranger's when it is proven.
      if (table.has(20) || looks > 2) return;
      if (looks === 0 && call === "/proc") table.start({ pid: 30, session: 20 });
      if (looks === 0 && call !== "/proc") return;
      if (call === "/proc" || call === "/proc/30/stat") looks += 1;
      if (looks !== 3) return;
      table.reap(21);
      table.start({ pid: 20, command: "stranger", startTicks: "2000" });
      table.start({ pid: 30, command: "stranger", session: 20 });
    };
    await end(table, { observer: observerOf(table) });
    expect(looks).toBe(3);
    expect(signalled(table)).toEqual([20, 21]);
  });

  it("I97 takes the session of a member for its own as long as nobody has waited for it", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment, ignores: ["SIGTERM"] });
    table.start({ pid: 21, environment, ignores: ["SIGTERM"] });
    let ended = false;
    const report = await end(table, { observer: observerOf(table) }, (elapsedMs) => {
      if (ended || elapsedMs < 100) return;
      ended = true;
      table.end(20);
      table.start({ pid: 30, session: 20 });
    });
    expect(report).toMatchObject({ ended: 3, remaining: [] });
    expect(signalled(table)).toEqual([20, 21, 30]);
  });

  it("I145 sends SIGKILL also where its caller stood still until the time for that was over", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment, ignores: ["SIGTERM"] });
    let stood = false;
    const report = await end(table, { observer: observerOf(table) }, (elapsedMs, clock) => {
      if (stood || elapsedMs < 100) return;
      stood = true;
      clock.advance(60_000);
    });
    expect(report).toMatchObject({ ended: 1, remaining: [] });
    expect(table.delivered.map(({ signal }) => signal)).toEqual(["SIGTERM", "SIGKILL"]);
  });

  it("kills no group in which a kept program is", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment, ignores: ["SIGTERM"] });
    table.start({ pid: 21, pgrp: 20, environment, ignores: ["SIGTERM"] });
    table.start({ pid: 22, pgrp: 20, environment, command: "tmux: server" });
    expect(await end(table, { observer: observerOf(table) })).toMatchObject({ ended: 2, remaining: [] });
    expect(signalled(table)).toEqual([20, 21]);
  });

  it("kills no group that a kept program has joined since the look", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment, ignores: ["SIGTERM"] });
    let isKilling = false;
    const observer = observerOf(table);
    table.beforeCall = (call) => {
      // The first word that SIGKILL comes: no look at the table follows by which it could be found.
      if (isKilling && call === "/proc/20/environ") table.start({ pid: 21, pgrp: 20, command: "tmux: server" });
    };
    expect(await end(table, { observer }, (elapsedMs) => void (isKilling = elapsedMs >= 495))).toMatchObject({
      ended: 1,
    });
    expect(table.has(21)).toBe(true);
    expect(signalled(table)).toEqual([20]);
  });

  it("does not take a cgroup for empty that has a member which was forked while the table was read", async () => {
    const table = new FakeProcessTable();
    const { cgroup } = groupOf(table);
    let pid = 20;
    table.start({ pid, cgroup: GROUP });
    table.beforeCall = (call) => {
      if (pid >= 30 || call !== `read ${GROUP}/cgroup.procs`) return;
      table.start({ pid: pid + 1, ppid: 1, cgroup: GROUP });
      table.reap(pid);
      pid += 1;
    };
    expect(await end(table, { cgroup, observer: observerOf(table) })).toMatchObject({
      remaining: [],
      cgroup: "removed",
    });
    expect(table.has(30)).toBe(false);
  });

  it("I131 looks into the cgroup again before it signals one that it does not hold", async () => {
    const table = new FakeProcessTable();
    const { cgroup } = groupOf(table);
    for (let pid = 1_000; pid < 1_257; pid += 1) table.start({ pid, cgroup: GROUP, ignores: ["SIGTERM"] });
    const observer = observerOf(table);
    let recycled = false;
    const report = await end(table, { cgroup, observer, lastRoundsMs: 100 }, (elapsedMs) => {
      if (recycled || elapsedMs < 100) return;
      recycled = true;
      table.start({ pid: 1_256, command: "stranger" });
    });
    expect(report.ended).toBeGreaterThanOrEqual(256);
    expect(table.delivered.filter(({ pid }) => pid === 1_256)).toEqual([{ pid: 1_256, signal: "SIGTERM" }]);
  });

  it("I134 says of a root that may run, and cannot be recognised, why the scan is incomplete", async () => {
    const table = new FakeProcessTable();
    const observer = observerOf(table);
    table.start({ pid: 20 });
    const seen = observer.identify(20);
    if (seen.kind !== "identified") throw new Error(seen.why);
    const { identity } = seen;
    // A kernel's own id needs no time namespace.
    const elsewhen = { ...identity, timeNamespace: "time:[9]", pidfsInode: null };
    const elsewhere = { ...identity, pidNamespace: "pid:[9]", pidfsInode: null };
    const roots = [
      elsewhen,
      elsewhere,
      ...damagedRecords(identity).filter((root) => root !== null && root !== undefined),
    ];
    for (const root of roots) {
      const found = findTree({ root, observer, ports: table });
      expect(found).toMatchObject({ kind: "incomplete", problem: expect.stringMatching(/^the root: /) });
      expect(found.processes).toEqual([]);
    }
    table.change(20, { unreadable: { stat: "ENOENT" } });
    const hidden = await end(table, { root: { ...identity, pidfsInode: null }, observer });
    expect(hidden).toMatchObject({ ended: 0, scan: "incomplete" });
    table.reap(20);
    expect(await end(table, { root: identity, observer })).toMatchObject({ scan: "complete" });
    expect(table.delivered).toEqual([]);
  });

  it("I134 names one that an earlier look has found and nobody can recognise now", async () => {
    const table = new FakeProcessTable();
    const observer = observerOf(table);
    table.start({ pid: 20, environment });
    const { processes } = findTree({ marker, observer, ports: table });
    table.change(20, { environment: {} });
    const known = processes.map((one) => ({
      ...one,
      identity: { ...one.identity, timeNamespace: "time:[9]", pidfsInode: null },
    }));
    const report = await end(table, { marker, known, observer });
    expect(report.unproven.processes).toMatchObject([{ identity: { pid: 20 }, why: "other-time-namespace" }]);
    expect(findTree({ marker, known, observer, ports: table }).unproven).toEqual(report.unproven.processes);
    expect(table.delivered).toEqual([]);
  });

  it("I134 proves nothing of a process that it cannot look at again", async () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment, unreadable: name === "narrow" ? { again: "EACCES" } : { status: "EACCES" } });
    table.start({ pid: 21, ppid: 20 });
    const report = await end(table, { observer: observerOf(table) });
    expect(signalled(table).includes(20)).toBe(name !== "narrow");
    expect(report.unproven.processes.map(({ identity }) => identity.pid)).toEqual(name === "narrow" ? [20, 21] : []);
  });
});

describe("findTree", () => {
  it("gives everything that endTree would, kept programs too, holds nothing and signals nobody", () => {
    const table = new FakeProcessTable();
    const { cgroup } = groupOf(table);
    table.start({ pid: 20, environment });
    table.start({ pid: 21, ppid: 20 });
    table.start({ pid: 22, cgroup: GROUP, command: "tmux: server" });
    table.start({ pid: 23, environment, command: "holdfastd" });
    table.change(table.pid, { environment, cgroup: GROUP });
    let most = 0;
    table.beforeCall = () => {
      most = Math.max(most, table.openCount);
    };
    const observer = observers["narrow"]?.(table);
    if (observer === undefined) throw new Error("no observer");
    const found = findTree({ marker, cgroup, spare: isSupervisor, observer, ports: table });
    expect(found).toMatchObject({ kind: "complete" });
    const texts = found.processes.map(({ identity, evidence }) => `${identity.pid} ${evidence}`);
    expect(texts).toEqual(["20 marker", "22 cgroup", "21 descent"]);
    expect([most, table.delivered.length]).toEqual([0, 0]);
  });

  it("I134 gives what seems to belong to it and cannot be proven to", () => {
    const table = new FakeProcessTable();
    const observer = observers["narrow"]?.(table);
    table.start({ pid: 20, environment });
    table.start({ pid: 21, ppid: 20 });
    let reads = 0;
    table.beforeCall = (call) => {
      // Its parent ends between the look at the table and the second look.
      if (call === "/proc/21/stat" && (reads += 1) === 2) table.reap(20);
    };
    if (observer === undefined) throw new Error("no observer");
    const found = findTree({ marker, observer, ports: table });
    expect(found).toMatchObject({ kind: "complete", unproven: [{ identity: { pid: 21 }, why: "evidence-lost" }] });
  });

  it("I117 says that it could not look", () => {
    const table = new FakeProcessTable();
    const observer = observers["narrow"]?.(table);
    if (observer === undefined) throw new Error("no observer");
    table.files.set("/proc", "!EMFILE");
    const found = findTree({ marker, observer, ports: table });
    expect(found).toEqual({ kind: "incomplete", processes: [], problem: "EMFILE", unproven: [] });
  });

  it("refuses to look for a tree that nothing is known of", () => {
    const table = new FakeProcessTable();
    const observer = observers["narrow"]?.(table);
    if (observer === undefined) throw new Error("no observer");
    const call = () => findTree({ observer, cgroup: null, ports: table });
    expect(call).toThrow(expect.objectContaining({ code: "invariant_broken" }));
  });
});
