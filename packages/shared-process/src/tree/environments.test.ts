import { describe, expect, it } from "vitest";
import { FakeProcessTable } from "../testing/index.ts";
import { type EnvironmentScan, scanEnvironments } from "./environments.ts";
import { openPaths } from "./open-paths.ts";

const scan = (table: FakeProcessTable): EnvironmentScan =>
  scanEnvironments({ names: ["HOLDFAST_HOME", "HOLDFAST_SESSION"], commands: ["holdfastd"], ports: table });
const pidsOf = ({ processes }: EnvironmentScan): number[] => processes.map(({ identity }) => identity.pid);

describe("scanEnvironments", () => {
  it("finds by a name in the environment or by the command, with what stands there", () => {
    const table = new FakeProcessTable();
    table.change(table.pid, { environment: { HOLDFAST_HOME: "/h" } });
    table.start({ pid: 20, ppid: 7, environment: { A: "1", HOLDFAST_HOME: "/h ä", HOLDFAST_SESSION: "m" } });
    table.start({ pid: 21, command: "holdfastd" });
    table.start({ pid: 22, environment: { MY_HOLDFAST_HOME: "/h", X: "HOLDFAST_HOME=/h" } });
    const found = scan(table);
    expect(found).toMatchObject({ kind: "complete", unreadable: 0 });
    const identity = expect.objectContaining({ pid: 20, startTicks: "1000", pidNamespace: "pid:[1]" });
    const values = { HOLDFAST_HOME: Buffer.from("/h ä", "latin1").toString("utf8"), HOLDFAST_SESSION: "m" };
    expect(found.processes[0]).toEqual({ identity, command: "node", ppid: 7, values });
    expect(pidsOf(found)).toEqual([20, 21]);
  });

  it("I133 leaves out zombies, other users' processes and those of other pid namespaces", () => {
    const table = new FakeProcessTable();
    const environment = { HOLDFAST_HOME: "/h" };
    table.start({ pid: 20, environment, state: "Z" });
    table.start({ pid: 21, environment, uid: 1001 });
    table.start({ pid: 22, environment, pidNamespace: "pid:[9]" });
    expect(pidsOf(scan(table))).toEqual([]);
  });

  it("counts what it may not read and skips what vanishes", () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, unreadable: { environ: "EACCES" } });
    table.start({ pid: 21, unreadable: { environ: "ESRCH" } });
    table.start({ pid: 22, unreadable: { stat: "EACCES" } });
    expect(scan(table)).toMatchObject({ kind: "complete", processes: [], unreadable: 2 });
  });

  it("does not give one process the environment of another that took its number meanwhile", () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, environment: { HOLDFAST_HOME: "/h" } });
    table.beforeCall = (call) => {
      if (call === "/proc/20/status") table.start({ pid: 20, command: "stranger", startTicks: "2000" });
    };
    expect(pidsOf(scan(table))).toEqual([]);
  });

  it.each<[string, (table: FakeProcessTable) => void]>([
    ["/proc is of a stranger", (table) => table.files.set("/proc/self", "9")],
    ["/proc cannot be listed", (table) => table.files.set("/proc", "!EMFILE")],
    ["no descriptor is left", (table) => table.start({ pid: 20, unreadable: { environ: "EMFILE" } })],
    [
      "no descriptor is left for its user",
      (table) => table.start({ pid: 20, environment: { HOLDFAST_HOME: "/h" }, unreadable: { status: "EMFILE" } }),
    ],
    ["no descriptor is left for a first look", (table) => table.start({ pid: 20, unreadable: { stat: "EMFILE" } })],
  ])("I117 says incomplete, with the problem, when %s", (_title, change) => {
    const table = new FakeProcessTable();
    change(table);
    expect(scan(table)).toMatchObject({ kind: "incomplete", problem: expect.any(String) });
  });

  it("sums a tree, and names what is above a process, without another look", () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, startTicks: "4000" });
    table.start({ pid: 21, ppid: 20 });
    table.start({ pid: 22, ppid: 21 });
    table.start({ pid: 23, ppid: 24, environment: { HOLDFAST_SESSION: "m" } });
    table.start({ pid: 24, ppid: 23 });
    const found = scan(table);
    table.beforeCall = () => expect.unreachable();
    const marker = { name: "HOLDFAST_SESSION", value: "m" };
    expect(found.usageOf(20, marker)).toEqual({ rssBytes: 40 * 4096, cpuSeconds: 8, ageSeconds: 60 });
    expect(found.usageOf(20)).toMatchObject({ cpuSeconds: 6 });
    expect(found.usageOf(99)).toBeNull();
    expect([found.ancestorsOf(22), found.ancestorsOf(23)]).toEqual([
      [21, 20, 1],
      [24, 23],
    ]);
  });
});

describe("openPaths", () => {
  it("lists what a process has open, and says why it cannot", () => {
    const table = new FakeProcessTable();
    const open = ["/dev/null", "/h/run/owner-1.alive", "/h/run/gone (deleted)"];
    table.start({ pid: 20, open });
    table.start({ pid: 21, unreadable: { fd: "EACCES" } });
    table.start({ pid: 22, unreadable: { fd: "EMFILE" } });
    expect(openPaths(20, table)).toEqual({ kind: "read", open: open.map((path, fd) => ({ fd: String(fd), path })) });
    const why = (pid: number): object => openPaths(pid, table);
    expect(why(21)).toEqual({ kind: "unreadable", why: "denied" });
    expect(why(22)).toEqual({ kind: "unreadable", why: "descriptors-exhausted" });
    expect(why(23)).toEqual({ kind: "unreadable", why: "vanished" });
  });
});
