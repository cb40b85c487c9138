import { describe, expect, it } from "vitest";
import { FakeProcessTable } from "../testing/index.ts";
import { observe } from "./observe.ts";

/** A process 42 with the thread 43, and what is asked of the machine. */
function world(exitSignal = 17): { table: FakeProcessTable; calls: string[] } {
  const table = new FakeProcessTable();
  table.start({ pid: 42, threadIds: [43], threads: 2, exitSignal });
  const calls: string[] = [];
  table.beforeCall = (call) => calls.push(call);
  return { table, calls };
}

describe("observe", () => {
  it("reads one file of a process, and tells a thread by it", () => {
    const { table, calls } = world();
    expect(observe(table, 42)).toMatchObject({ kind: "process", permitted: true, stat: { pid: 42 } });
    expect(observe(table, 43)).toEqual({ kind: "thread" });
    expect(calls).toEqual([42, 43].flatMap((pid) => [`kill ${pid} 0`, "/proc/self", `/proc/${pid}/stat`]));
  });

  it("asks a second file where the first does not say, and reads the first again after it", () => {
    const { table, calls } = world(0);
    expect(observe(table, 42)).toMatchObject({ kind: "process", stat: { pid: 42 } });
    expect(calls.slice(2)).toEqual(["/proc/42/stat", "/proc/42/status", "/proc/42/stat"]);
    expect(observe(table, 43)).toEqual({ kind: "thread" });
  });

  it("does not take the start of one process for that of another that took its number during the look", () => {
    const { table } = world(0);
    table.beforeCall = (call) => {
      if (call === "/proc/42/status") table.start({ pid: 42, startTicks: "2000", exitSignal: 0 });
    };
    expect(observe(table, 42)).toMatchObject({ kind: "process", stat: { startTicks: "2000" } });
  });

  it.each([
    ["ESRCH", { kind: "unknown", why: "hidden" }],
    ["EACCES", { kind: "unknown", why: "denied" }],
    ["EMFILE", { kind: "unknown", why: "descriptors-exhausted" }],
  ])("knows no process when the second file gives %s", (errno, seen) => {
    const { table } = world(0);
    table.change(42, { unreadable: { status: errno } });
    expect(observe(table, 42)).toEqual(seen);
  });

  it("is absent when the process is reaped before the second file is read", () => {
    const { table } = world(0);
    table.beforeCall = (call) => {
      if (call === "/proc/42/status") table.reap(42);
    };
    expect(observe(table, 42)).toEqual({ kind: "absent" });
  });
});
