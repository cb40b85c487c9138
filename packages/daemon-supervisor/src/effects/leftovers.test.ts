import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import type { ProcessIdentity, TreeReport } from "@holdfast/shared-process";
import { FakeCgroups, FakeProcessTable } from "@holdfast/shared-process/testing";
import { workerCgroupName } from "@holdfast/session-worker/transport";
import { afterEach, beforeEach, expect, it } from "vitest";
import { homeHash } from "../home.ts";
import { leftBy, noteCgroupDirectory, removeLeftoverCgroups, workerCgroups } from "./leftovers.ts";

const host = { machineId: "m", bootId: "b", pidNamespace: "pid:[1]", timeNamespace: null };
const identity = (pid: number): ProcessIdentity => ({ ...host, pid, startTicks: "1", pidfsInode: null });

it("I167 what a sweep left stays listed, also what it could not prove; that one never ends by its identity alone", () => {
  const report: TreeReport = {
    ended: 0,
    kept: [{ identity: identity(20), command: "tmux", evidence: "cgroup" }],
    remaining: [{ identity: identity(21), command: "stuck", evidence: "marker" }],
    scan: "complete",
    unproven: { unreadable: 7, processes: [{ identity: identity(22), command: "x", why: "evidence-lost" }] },
    cgroup: "in-use",
  };
  const texts = leftBy(report, "m").map(({ identity: { pid }, marked, kept }) => [pid, marked, kept]);
  expect(texts).toEqual([
    [20, false, true],
    [21, true, false],
    [22, true, false],
  ]);
});

let home: string;

beforeEach(() => {
  home = mkdtempSync(`${tmpdir()}/hf-leftovers-`);
  mkdirSync(`${home}/run`);
});

afterEach(() => rmSync(home, { recursive: true }));

it("finds the groups of a home where they were made, whichever group the caller is in, until there are none", () => {
  const table = new FakeProcessTable();
  const ports = new FakeCgroups(table);
  const name = workerCgroupName(homeHash(home), "0f8fad5b-d9cb-469f-a165-70867728950e");
  const made = `/sys/fs/cgroup/made/${name}`;
  for (const path of ["/sys/fs/cgroup/made", "/sys/fs/cgroup/caller", made]) ports.makeDirectory(path);
  table.files.set("/proc/self/cgroup", "0::/caller\n");
  noteCgroupDirectory(home, "/sys/fs/cgroup/made");
  noteCgroupDirectory(home, "/sys/fs/cgroup/made");
  table.start({ pid: 20, cgroup: made });
  expect(workerCgroups(home, { ports }).map(({ path }) => path)).toEqual([made]);
  removeLeftoverCgroups(home, { ports });
  expect([ports.groups.includes(made), existsSync(`${home}/run/cgroups`)]).toEqual([true, true]);
  table.reap(20);
  removeLeftoverCgroups(home, { ports });
  expect([ports.groups.includes(made), existsSync(`${home}/run/cgroups`)]).toEqual([false, false]);
});
