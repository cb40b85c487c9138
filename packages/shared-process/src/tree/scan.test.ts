import { describe, expect, it } from "vitest";
import { FakeProcessTable } from "../testing/index.ts";
import { isKept } from "./keep.ts";
import { scanMarked } from "./scan.ts";
import { treeUsage } from "./usage.ts";

const marker = { name: "HOLDFAST_SESSION", value: "s1" };
const environment = { HOLDFAST_SESSION: "s1" };

describe("scanMarked", () => {
  it("I131 finds exactly what carries the marker, and neither itself nor zombies", () => {
    const table = new FakeProcessTable();
    table.change(table.pid, { environment });
    table.start({ pid: 20, command: ") Z 0 (", environment: { A: "1", ...environment, B: "2" } });
    table.start({ pid: 21, environment: { HOLDFAST_SESSION: "s12" } });
    table.start({ pid: 22, environment: { X: "HOLDFAST_SESSION=s1" } });
    table.start({ pid: 23, environment: { MY_HOLDFAST_SESSION: "s1" } });
    table.start({ pid: 24, environment, state: "Z" });
    table.start({ pid: 25 });
    const scan = scanMarked(marker, table);
    expect(scan).toMatchObject({ kind: "complete", unreadable: 0 });
    expect(scan.processes).toEqual([
      { identity: expect.objectContaining({ pid: 20, startTicks: "1000" }), command: ") Z 0 (" },
    ]);
  });

  it("finds a marker whose value is not ASCII", () => {
    const table = new FakeProcessTable();
    const bytes = Buffer.from("größe", "utf8").toString("latin1");
    table.start({ pid: 20, environment: { NAME: bytes } });
    expect(scanMarked({ name: "NAME", value: "größe" }, table).processes).toHaveLength(1);
  });

  it.each<[string, (table: FakeProcessTable) => void]>([
    ["/proc is of a stranger", (table) => table.files.set("/proc/self", "9")],
    ["/proc cannot be listed", (table) => table.files.set("/proc", "!EMFILE")],
    ["no descriptor is left", (table) => table.start({ pid: 20, unreadable: { environ: "EMFILE" } })],
    ["a member has no identity", (table) => table.start({ pid: 20, environment, unreadable: { stat: "EACCES" } })],
  ])("I134 says incomplete, with the problem, when %s", (_title, change) => {
    const table = new FakeProcessTable();
    change(table);
    expect(scanMarked(marker, table)).toMatchObject({ kind: "incomplete", problem: expect.any(String) });
  });

  it("counts what it may not read and skips what vanishes", () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, unreadable: { environ: "EACCES" } });
    table.start({ pid: 21, unreadable: { environ: "ESRCH" } });
    expect(scanMarked(marker, table)).toEqual({ kind: "complete", processes: [], unreadable: 1 });
  });
});

describe("isKept", () => {
  it.each([
    ["tmux", true],
    ["tmux: client", true],
    ["SCREEN", true],
    ["gpg-agent", true],
    ["tmuxinator", false],
    ["sh", false],
  ])("%s: %s", (command, kept) => {
    expect(isKept(command, ["tmux", "screen", "gpg-agent"])).toBe(kept);
  });

  it("compares the 15 bytes the kernel keeps of a long name", () => {
    expect(isKept("a-very-long-nam", ["a-very-long-name-of-a-program"])).toBe(true);
  });
});

describe("treeUsage", () => {
  it("sums a process, its descendants and what carries the marker", () => {
    const table = new FakeProcessTable();
    table.start({ pid: 20, startTicks: "4000" });
    table.start({ pid: 21, ppid: 20 });
    table.start({ pid: 22, ppid: 21 });
    table.start({ pid: 23, environment });
    table.start({ pid: 24 });
    const page = 4096;
    expect(treeUsage(20, undefined, table)).toEqual({ rssBytes: 30 * page, cpuSeconds: 6, ageSeconds: 60 });
    expect(treeUsage(20, marker, table)).toEqual({ rssBytes: 40 * page, cpuSeconds: 8, ageSeconds: 60 });
    expect(treeUsage(99, marker, table)).toBeNull();
  });
});
