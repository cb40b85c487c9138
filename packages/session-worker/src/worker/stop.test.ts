import type { FoundTree, ProcessIdentity } from "@holdfast/shared-process";
import { expect, it } from "vitest";
import { whyOccupied } from "./stop.ts";

const AGENT = 20;
const host = { machineId: "m", bootId: "b", pidNamespace: "pid:[1]", timeNamespace: null };
const identity = (pid: number): ProcessIdentity => ({ ...host, pid, startTicks: "1", pidfsInode: null });
const agent = { identity: identity(AGENT), command: "agent", evidence: "marker" } as const;
const free: FoundTree = { kind: "complete", processes: [agent], unproven: [] };

it("a session is free when nothing but its agent runs", () => {
  expect(whyOccupied(free, AGENT)).toBeNull();
});

it.each<[string, Partial<FoundTree>, RegExp]>([
  ["another process of it runs", { processes: [agent, { ...agent, identity: identity(21) }] }, /agent \(21\)/],
  [
    "one runs that may be of it",
    { unproven: [{ identity: identity(22), command: "x", why: "evidence-lost" }] },
    /x \(22\).*evidence-lost/,
  ],
  ["nobody can tell", { kind: "incomplete", problem: "EMFILE" }, /EMFILE/],
])("I117 a session is not free when %s", (_title, change, why) => {
  expect(whyOccupied({ ...free, ...change }, AGENT)).toMatch(why);
});
