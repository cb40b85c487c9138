import { describe, expect, it } from "vitest";
import { damagedRecords } from "../damaged-records.testing.ts";
import { eachState } from "./states.testing.ts";
import { BACKENDS, open, openDescriptors, PID, world } from "./world.testing.ts";

describe.each(BACKENDS)("verdict by %s", (backend) => {
  it.each(eachState)("when %s", (_title, { become, verdict, held }) => {
    const made = world(backend);
    using handle = open(made);
    become(made);
    expect(made.observer.verdict(made.recorded)).toEqual(verdict[backend]);
    expect(handle.verdict()).toEqual(held[backend]);
    handle[Symbol.dispose]();
    expect(openDescriptors(made)).toBe(0);
  });

  it.each(eachState)("opens what is current and nothing else: when %s", (_title, { become, verdict }) => {
    const made = world(backend);
    become(made);
    const result = made.observer.open(made.recorded);
    const said = result.kind === "opened" ? result.handle.identity : result;
    expect(said).toEqual(verdict[backend].kind === "current" ? made.recorded : verdict[backend]);
    if (result.kind === "opened") result.handle[Symbol.dispose]();
    expect(openDescriptors(made)).toBe(0);
  });

  it("probes nothing for a record of a previous boot, another machine or another namespace", () => {
    const { observer, recorded, calls } = world(backend);
    const records = [
      { bootId: "x" },
      { machineId: "x", bootId: "x" },
      { machineId: null, bootId: "x" },
      { pidNamespace: "pid:[9]" },
      { pidNamespace: null },
      { timeNamespace: "time:[9]", pidfsInode: null },
      { bootId: null },
    ].map((fields) => ({ ...recorded, ...fields }));
    const verdicts = [
      { kind: "gone", why: "previous-boot" },
      { kind: "unknown", why: "other-host" },
      { kind: "unknown", why: "other-host" },
      { kind: "unknown", why: "other-pid-namespace" },
      { kind: "unknown", why: "no-common-field" },
      { kind: "unknown", why: "other-time-namespace" },
      { kind: "unknown", why: "boot-unreadable" },
    ];
    expect(records.map((record) => observer.verdict(record))).toEqual(verdicts);
    expect(records.map((record) => observer.open(record))).toEqual(verdicts);
    expect(records.map((record) => observer.signal(record, "SIGKILL"))).toEqual(
      verdicts.map((verdict) => ({ kind: "not-sent", verdict })),
    );
    expect(calls).toEqual([]);
  });

  it("I16 is unknown for a record that was damaged, and probes, opens and signals nothing", () => {
    const { observer, recorded, calls } = world(backend);
    for (const damaged of damagedRecords(recorded)) {
      const verdict = { kind: "unknown", why: "unparsable" };
      expect(observer.verdict(damaged)).toEqual(verdict);
      expect(observer.open(damaged)).toEqual(verdict);
      expect(observer.signal(damaged, "SIGKILL")).toEqual({ kind: "not-sent", verdict });
      expect(observer.signalGroup(damaged, "SIGKILL")).toEqual({ kind: "not-sent", verdict });
    }
    expect(calls).toEqual([]);
  });

  it("is unknown for a record without a start time and a kernel id, unless its process is seen to have ended", () => {
    const { table, observer, recorded } = world(backend);
    const bare = { ...recorded, startTicks: null, pidfsInode: null };
    expect(observer.verdict(bare)).toEqual({ kind: "unknown", why: "no-common-field" });
    table.end(PID);
    expect(observer.verdict(bare)).toEqual({ kind: "gone", why: "defunct" });
    table.reap(PID);
    expect(observer.verdict(bare)).toEqual({ kind: "gone", why: "no-such-pid" });
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 31])("never passes the number %d to the kernel", (pid) => {
    const { observer, recorded, calls } = world(backend);
    const strange = { ...recorded, pid };
    const unparsable = { kind: "unknown", why: "unparsable" };
    expect(observer.verdict(strange)).toEqual(unparsable);
    expect(observer.open(strange)).toEqual(unparsable);
    expect(observer.identify(pid)).toEqual(unparsable);
    expect(observer.signal(strange, "SIGKILL")).toEqual({ kind: "not-sent", verdict: unparsable });
    expect(observer.signalGroup(strange, "SIGKILL")).toEqual({ kind: "not-sent", verdict: unparsable });
    expect(calls.filter((call) => /kill|pidfd/.test(call))).toEqual([]);
  });
});

describe("records of one back-end before the other", () => {
  it("a record without the kernel's id is compared by its start time, in the same time namespace", () => {
    const { table, observer, recorded } = world("pidfd");
    const record = { ...recorded, pidfsInode: null };
    expect(observer.verdict(record)).toEqual({ kind: "current", basis: "start-time" });
    expect(observer.verdict({ ...record, timeNamespace: "time:[9]" }).kind).toBe("unknown");
    table.start({ pid: PID, startTicks: "1001" });
    expect(observer.verdict(record)).toEqual({ kind: "replaced", by: "process" });
  });

  it("a record with the kernel's id holds whatever the time namespace is, where that id can be read", () => {
    const { observer, recorded } = world("pidfd");
    const elsewhen = { ...recorded, timeNamespace: "time:[9]", startTicks: "999" };
    expect(observer.verdict(elsewhen)).toEqual({ kind: "current", basis: "kernel-id" });
    expect(world("narrow").observer.verdict(elsewhen)).toEqual({ kind: "unknown", why: "other-time-namespace" });
  });

  it("a record with the kernel's id is compared by its start time where that id cannot be read", () => {
    const { recorded } = world("pidfd");
    const basis = { kind: "current", basis: "start-time" };
    expect(world("narrow").observer.verdict(recorded)).toEqual(basis);
    expect(world("ticks").observer.verdict(recorded)).toEqual(basis);
  });
});

describe("pidfd_open", () => {
  it.each([
    ["EMFILE", "descriptors-exhausted"],
    ["ENFILE", "descriptors-exhausted"],
    ["EPERM", "denied"],
    ["EACCES", "denied"],
  ])("I134 is unknown when it gives %s", (errno, why) => {
    const { observer, recorded, pidfds } = world("pidfd");
    const unknown = { kind: "unknown", why };
    const asked = [
      () => observer.verdict(recorded),
      () => observer.open(recorded),
      () => observer.identify(PID),
      () => observer.signal(recorded, "SIGKILL"),
    ].map((ask) => {
      pidfds.openFails = errno;
      return ask();
    });
    expect(asked).toEqual([unknown, unknown, unknown, { kind: "not-sent", verdict: unknown }]);
  });

  it.each([
    ["a thread's number", { kind: "replaced", by: "thread" }],
    ["a free number", { kind: "gone", why: "no-such-pid" }],
    ["a process that is there", { kind: "unknown", why: "hidden" }],
    ["a process whose files are hidden", { kind: "unknown", why: "hidden" }],
  ])("EINVAL, the word of older kernels, is looked into: for %s", (what, verdict) => {
    const { table, observer, recorded, pidfds } = world("pidfd");
    if (!what.includes("process")) table.reap(PID);
    if (what.includes("thread")) table.start({ pid: 41, threadIds: [PID], threads: 2 });
    if (what.includes("hidden")) table.change(PID, { unreadable: { stat: "ENOENT" } });
    pidfds.openFails = "EINVAL";
    expect(observer.verdict(recorded)).toEqual(verdict);
  });
});
