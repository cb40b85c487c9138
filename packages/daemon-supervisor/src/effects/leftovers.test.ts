import type { ProcessIdentity, TreeReport } from "@holdfast/shared-process";
import { expect, it } from "vitest";
import { leftBy } from "./leftovers.ts";

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
