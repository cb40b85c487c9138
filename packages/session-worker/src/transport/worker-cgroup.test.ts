import { makeCgroup } from "@holdfast/shared-process";
import { describe, expect, it } from "vitest";
import { isWorkerCgroup, openWorkerCgroup, workerCgroupName } from "./worker-cgroup.ts";

const HASH = "0123456789ab";
const generation = crypto.randomUUID();
const name = workerCgroupName(HASH, generation);

describe("isWorkerCgroup", () => {
  it.each([
    [name, undefined, true],
    [name, HASH, true],
    [name, "ba9876543210", false],
    [`${name}0`, undefined, false],
    [`x${name}`, undefined, false],
    ["holdfast", undefined, false],
    ["user.slice", undefined, false],
  ])("%s of %s: %s", (candidate, hash, is) => {
    expect(isWorkerCgroup(candidate, hash)).toBe(is);
  });
});

describe("openWorkerCgroup", () => {
  it.each([
    ["no path", null],
    ["the path of another generation", `/sys/fs/cgroup/${workerCgroupName(HASH, crypto.randomUUID())}`],
    ["a group of somebody else", "/sys/fs/cgroup/user.slice"],
    ["the whole tree", "/sys/fs/cgroup"],
    ["a directory that is no cgroup", `/tmp/${name}`],
    ["a group that is gone", `/sys/fs/cgroup/${name}`],
  ])("I131 opens nothing for %s", (_title, cgroupPath) => {
    expect(openWorkerCgroup({ cgroupPath, generation })).toBeNull();
  });

  it("opens that of its generation, where one can be made", () => {
    const made = makeCgroup(name);
    const path = made.kind === "made" ? made.cgroup.path : null;
    const opened = openWorkerCgroup({ cgroupPath: path, generation });
    const other = openWorkerCgroup({ cgroupPath: path, generation: crypto.randomUUID() });
    if (made.kind === "made") made.cgroup.remove();
    expect(opened?.path ?? null).toBe(path);
    expect(other).toBeNull();
  });
});
