import { describe, expect, it } from "vitest";
import { FakeCgroups, FakeClock, FakeProcessTable } from "../testing/index.ts";
import type { Cgroup } from "./cgroup.ts";
import { leaveCgroup } from "./leave.ts";
import { listCgroups, makeCgroup, openCgroup } from "./make.ts";

const NAME = "mine-0123456789";
const PATH = `/sys/fs/cgroup/${NAME}`;

function machine(): { table: FakeProcessTable; ports: FakeCgroups } {
  const table = new FakeProcessTable();
  return { table, ports: new FakeCgroups(table) };
}

function made(ports: FakeCgroups): Cgroup {
  const result = makeCgroup(NAME, ports);
  if (result.kind !== "made") throw new Error(result.reason);
  return result.cgroup;
}

describe("makeCgroup", () => {
  it("makes a group below the caller's own", () => {
    const { ports } = machine();
    expect(made(ports).path).toBe(PATH);
    expect(ports.groups).toEqual([PATH]);
  });

  it.each([
    ["the file system is read-only", `mkdir ${PATH}`, "EROFS"],
    ["the parent is another user's", "check /sys/fs/cgroup/cgroup.procs", "EACCES"],
    ["the kernel has no cgroup.kill", `check ${PATH}/cgroup.kill`, "ENOENT"],
    ["nobody may be put in", `check ${PATH}/cgroup.procs`, "EACCES"],
    ["the mounts are not readable", "read /proc/self/mountinfo", "EACCES"],
  ])("is unavailable, and leaves nothing behind, when %s", (_title, call, errno) => {
    const { ports } = machine();
    ports.fails.set(call, errno);
    expect(makeCgroup(NAME, ports)).toEqual({ kind: "unavailable", reason: errno });
    expect(ports.groups).toEqual([]);
  });

  it("is unavailable, and says what it leaves, when it cannot even remove what it made", () => {
    const { ports } = machine();
    ports.fails.set(`check ${PATH}/cgroup.kill`, "ENOENT");
    ports.fails.set(`rmdir ${PATH}`, "EACCES");
    const reason = "ENOENT, and it is left behind: EACCES";
    expect(makeCgroup(NAME, ports)).toEqual({ kind: "unavailable", reason });
  });

  it("takes no group that somebody else has made", () => {
    const { ports } = machine();
    ports.makeDirectory(PATH);
    expect(makeCgroup(NAME, ports)).toEqual({ kind: "unavailable", reason: "EEXIST" });
    expect(ports.groups).toEqual([PATH]);
  });

  it.each(["", ".", "..", "a/b", "cgroup.procs", "-x", "a b", "x".repeat(201)])("refuses the name %j", (name) => {
    expect(() => makeCgroup(name, machine().ports)).toThrow(expect.objectContaining({ code: "invariant_broken" }));
  });
});

describe("openCgroup", () => {
  it("opens what a predecessor made", () => {
    const { ports } = machine();
    made(ports);
    expect(openCgroup(PATH, NAME, ports)).toMatchObject({ kind: "opened", cgroup: { path: PATH } });
  });

  it.each([
    ["another name", PATH, "mine-9876543210"],
    ["the whole tree", "/sys/fs/cgroup", "cgroup"],
    ["a path that leads elsewhere", `/sys/fs/cgroup/../${NAME}`, NAME],
    ["a relative path", NAME, NAME],
    ["another file system", `/tmp/${NAME}`, NAME],
  ])("I131 opens nothing for %s", (_title, path, name) => {
    const { ports } = machine();
    made(ports);
    expect(openCgroup(path, name, ports)).toEqual({ kind: "unavailable", reason: expect.any(String) });
  });

  it("I131 opens nothing where a record has no path or no name", () => {
    const { ports } = machine();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as from a file that was believed
    const damaged = [null, undefined, 7, {}] as readonly unknown[] as readonly string[];
    for (const value of damaged) {
      for (const opened of [openCgroup(value, NAME, ports), openCgroup(PATH, value, ports)]) {
        expect(opened).toEqual({ kind: "unavailable", reason: expect.any(String) });
      }
      expect(openCgroup(`/sys/fs/cgroup/${value}`, value, ports).kind).toBe("unavailable");
    }
  });

  it("says gone only where the group above can be seen", () => {
    const { ports } = machine();
    expect(openCgroup(PATH, NAME, ports)).toEqual({ kind: "gone" });
    expect(openCgroup(`/sys/fs/cgroup/unseen/${NAME}`, NAME, ports).kind).toBe("unavailable");
  });
});

describe("Cgroup", () => {
  it("lists whom it was given and what they forked, without zombies", () => {
    const { table, ports } = machine();
    const cgroup = made(ports);
    table.start({ pid: 20 });
    expect(cgroup.add(20)).toEqual({ kind: "done" });
    table.start({ pid: 21, ppid: 20, cgroup: PATH });
    table.start({ pid: 22, ppid: 20, cgroup: PATH, state: "Z" });
    expect(cgroup.members()).toEqual({ kind: "listed", pids: [20, 21], foreign: 0 });
    expect(cgroup.add(-1).kind).toBe("failed");
  });

  it("counts the members that have no number in this pid namespace", () => {
    const { table, ports } = machine();
    const cgroup = made(ports);
    table.start({ pid: 20, cgroup: PATH });
    ports.foreign.set(PATH, 2);
    expect(cgroup.members()).toEqual({ kind: "listed", pids: [20], foreign: 2 });
    expect(cgroup.remove()).toEqual({ kind: "in-use" });
  });

  it("says why nobody can be put in, and that it is gone", () => {
    const { ports } = machine();
    const cgroup = made(ports);
    ports.fails.set(`write ${PATH}/cgroup.procs`, "EOPNOTSUPP");
    expect(cgroup.add(10)).toEqual({ kind: "failed", reason: "EOPNOTSUPP" });
    expect(cgroup.remove()).toEqual({ kind: "removed" });
    expect(cgroup.members()).toEqual({ kind: "gone" });
    expect(cgroup.remove()).toEqual({ kind: "removed" });
  });

  it("is not removed while somebody is in it or below", () => {
    const { table, ports } = machine();
    const cgroup = made(ports);
    for (const name of ["inner", "inner/most"]) ports.makeDirectory(`${PATH}/${name}`);
    expect(cgroup.hasPopulatedSubgroups).toBe(false);
    table.start({ pid: 20, cgroup: `${PATH}/inner/most` });
    expect(cgroup.remove()).toEqual({ kind: "in-use" });
    expect(ports.groups).toHaveLength(3);
    expect(cgroup.members()).toEqual({ kind: "listed", pids: [], foreign: 0 });
    expect(cgroup.hasPopulatedSubgroups).toBe(true);
    table.reap(20);
    expect(cgroup.remove()).toEqual({ kind: "removed" });
    expect(ports.groups).toEqual([]);
  });

  it("takes a group below that cannot be read for one with members", () => {
    const { ports } = machine();
    const cgroup = made(ports);
    ports.makeDirectory(`${PATH}/inner`);
    ports.fails.set(`read ${PATH}/inner/cgroup.events`, "EACCES");
    expect(cgroup.hasPopulatedSubgroups).toBe(true);
  });

  it.each<[string, (ports: FakeCgroups) => void, number]>([
    ["by the kernel's event", () => undefined, 10],
    [
      "by looking where there is no watch left",
      (ports) => ports.fails.set(`watch ${PATH}/cgroup.events`, "EMFILE"),
      100,
    ],
  ])("tells when it is empty, %s", async (_title, change, withinMs) => {
    const { table, ports } = machine();
    const clock = new FakeClock();
    const cgroup = made(ports);
    change(ports);
    table.start({ pid: 20, cgroup: PATH });
    const empty = cgroup.whenEmpty({ clock, withinMs: 1_000 });
    table.reap(20);
    ports.changed();
    await Promise.resolve();
    clock.advance(withinMs);
    expect(await empty).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    expect(ports.watchCount).toBe(0);
  });

  it("does not wait for ever", async () => {
    const { table, ports } = machine();
    const clock = new FakeClock();
    const cgroup = made(ports);
    table.start({ pid: 20, cgroup: PATH });
    const empty = cgroup.whenEmpty({ clock, withinMs: 250 });
    clock.advance(250);
    expect(await empty).toBe(false);
    expect([clock.pendingTimers, ports.watchCount]).toEqual([0, 0]);
  });
});

const isOurs = (name: string): boolean => name.startsWith("ours-");

describe("listCgroups", () => {
  it("gives those of ours beside which the next would be made, and no others", () => {
    const { table, ports } = machine();
    for (const name of ["ours-1", "ours-2", "theirs-1"]) ports.makeDirectory(`/sys/fs/cgroup/${name}`);
    table.start({ pid: 20, cgroup: "/sys/fs/cgroup/ours-2" });
    const removals = listCgroups(isOurs, { ports }).map((cgroup) => cgroup.remove().kind);
    expect(removals).toEqual(["removed", "in-use"]);
    expect(ports.groups).toEqual(["/sys/fs/cgroup/ours-2", "/sys/fs/cgroup/theirs-1"]);
  });

  it("gives none where groups cannot be seen, unless the directory is known", () => {
    const { ports } = machine();
    ports.makeDirectory("/sys/fs/cgroup/ours-1");
    ports.fails.set("read /proc/self/cgroup", "EACCES");
    expect(listCgroups(isOurs, { ports })).toEqual([]);
    expect(listCgroups(isOurs, { directory: "/sys/fs/cgroup", ports })).toHaveLength(1);
  });
});

describe("leaveCgroup", () => {
  it.each([
    ["/ours-1", "/sys/fs/cgroup"],
    ["/a/ours-1/b/ours-2", "/sys/fs/cgroup/a"],
  ])("leads out of %s to %s", (own, path) => {
    const { table, ports } = machine();
    ports.makeDirectory("/sys/fs/cgroup/a");
    table.files.set("/proc/self/cgroup", `0::${own}\n`);
    expect(leaveCgroup(isOurs, ports)).toEqual({ kind: "left", path });
    expect(table.membersOf(path)).toEqual([table.pid]);
  });

  it("stays where nothing fits, and says why it could not leave", () => {
    const { table, ports } = machine();
    expect(leaveCgroup(isOurs, ports)).toEqual({ kind: "stayed" });
    table.files.set("/proc/self/cgroup", "0::/ours-1\n");
    ports.fails.set("write /sys/fs/cgroup/cgroup.procs", "EACCES");
    expect(leaveCgroup(isOurs, ports)).toEqual({ kind: "failed", reason: "EACCES" });
  });
});
