import { describe, expect, it } from "vitest";
import type { ProcessIdentity } from "../types.ts";
import { FakeProcessTable } from "../testing/index.ts";
import { createObserver } from "./create.ts";

const PID = 42;

function world(): { table: FakeProcessTable; recorded: ProcessIdentity; observer: ReturnType<typeof createObserver> } {
  const table = new FakeProcessTable();
  table.start({ pid: PID, environment: { GENERATION: "g1", LANG: "C" } });
  const observer = createObserver({ mode: "narrow", ports: table });
  const seen = observer.identify(PID);
  if (seen.kind !== "identified") throw new Error(`not identified: ${seen.why}`);
  return { table, observer, recorded: seen.identity };
}

type Change = (table: FakeProcessTable) => void;

const cases: [string, Change, object][] = [
  ["it runs", () => {}, { kind: "current", basis: "start-time" }],
  ["it is stopped", (table) => table.change(PID, { state: "T" }), { kind: "current" }],
  ["it is of another user", (table) => table.change(PID, { foreign: true }), { kind: "current" }],
  ["its leader ended and threads run", (table) => table.change(PID, { state: "Z", threads: 2 }), { kind: "current" }],
  ["I3 it is a zombie", (table) => table.end(PID), { kind: "gone", why: "defunct" }],
  ["I98 it is in state X", (table) => table.change(PID, { state: "X", threads: 0 }), { kind: "gone", why: "defunct" }],
  ["it is reaped", (table) => table.reap(PID), { kind: "gone", why: "no-such-pid" }],
  [
    "I9 its number is another's",
    (table) => table.start({ pid: PID, startTicks: "1001" }),
    { kind: "replaced", by: "process" },
  ],
  [
    "its number is another's zombie",
    (table) => table.start({ pid: PID, startTicks: "9", state: "Z" }),
    { kind: "replaced" },
  ],
  [
    "its number is a thread's",
    (table) => {
      table.reap(PID);
      table.start({ pid: 41, threadIds: [PID], threads: 2 });
    },
    { kind: "replaced", by: "thread" },
  ],
  [
    "I11 stat is hidden",
    (table) => table.change(PID, { unreadable: { stat: "ENOENT" } }),
    { kind: "unknown", why: "hidden" },
  ],
  [
    "stat is denied",
    (table) => table.change(PID, { unreadable: { status: "EACCES" } }),
    { kind: "unknown", why: "denied" },
  ],
  [
    "no descriptor is left",
    (table) => table.change(PID, { unreadable: { status: "EMFILE" } }),
    { kind: "unknown", why: "descriptors-exhausted" },
  ],
  ["stat is garbage", (table) => table.change(PID, { statText: "42 (x" }), { kind: "unknown", why: "unparsable" }],
  [
    "stat is of another number",
    (table) => table.change(PID, { statText: `43 (x) S 1 1 1 ${"0 ".repeat(15)}1000 0\n` }),
    { kind: "unknown", why: "unparsable" },
  ],
  ["/proc is of a stranger", (table) => table.files.set("/proc/self", "99"), { kind: "unknown", why: "foreign-proc" }],
  ["/proc is gone", (table) => table.files.set("/proc/self", "!ENOENT"), { kind: "unknown", why: "no-proc" }],
];

describe("verdict", () => {
  it.each(cases)("when %s", (_title, change, verdict) => {
    const { table, observer, recorded } = world();
    change(table);
    expect(observer.verdict(recorded)).toMatchObject(verdict);
  });

  it("probes nothing for a record of a previous boot, another machine or another namespace", () => {
    const { table, observer, recorded } = world();
    const calls: string[] = [];
    table.beforeCall = (call) => calls.push(call);
    const verdicts = [
      { bootId: "x" },
      { machineId: "x", bootId: "x" },
      { pidNamespace: "pid:[9]" },
      { timeNamespace: "time:[9]" },
      { bootId: null },
    ].map((fields) => observer.verdict({ ...recorded, ...fields }));
    expect(verdicts).toMatchObject([
      { kind: "gone", why: "previous-boot" },
      { kind: "unknown", why: "other-host" },
      { kind: "unknown", why: "other-pid-namespace" },
      { kind: "unknown", why: "other-time-namespace" },
      { kind: "unknown", why: "boot-unreadable" },
    ]);
    expect(calls).toEqual([]);
  });

  it("is gone when the process ends between kill(0) and the read", () => {
    const { table, observer, recorded } = world();
    table.beforeCall = (call) => {
      if (call.endsWith("/status")) table.reap(PID);
    };
    expect(observer.verdict(recorded)).toEqual({ kind: "gone", why: "no-such-pid" });
  });

  it("is unknown for a record without a start time, unless its number is a zombie's or free", () => {
    const { table, observer, recorded } = world();
    const bare = { ...recorded, startTicks: null };
    expect(observer.verdict(bare)).toEqual({ kind: "unknown", why: "no-common-field" });
    table.end(PID);
    expect(observer.verdict(bare)).toEqual({ kind: "gone", why: "defunct" });
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 31])("never passes the number %d to kill(2)", (pid) => {
    const { table, observer, recorded } = world();
    const calls: string[] = [];
    table.beforeCall = (call) => calls.push(call);
    expect(observer.verdict({ ...recorded, pid })).toEqual({ kind: "unknown", why: "unparsable" });
    expect(observer.identify(pid)).toEqual({ kind: "unknown", why: "unparsable" });
    expect(calls.filter((call) => call.startsWith("kill"))).toEqual([]);
  });
});

describe("signal", () => {
  it.each(cases.slice(0, 2))("I16 sends to a current process: %s", (_title, change) => {
    const { table, observer, recorded } = world();
    change(table);
    expect(observer.signal(recorded, "SIGTERM")).toEqual({ kind: "sent", via: "narrow-window" });
    expect(table.delivered).toEqual([{ pid: PID, signal: "SIGTERM" }]);
  });

  it.each(cases.slice(4))("I16 sends to nothing else: %s", (_title, change, verdict) => {
    const { table, observer, recorded } = world();
    change(table);
    expect(observer.signal(recorded, "SIGTERM")).toMatchObject({ kind: "not-sent", verdict });
    expect(table.delivered).toEqual([]);
  });

  it("reaches a process whose leader ended while its threads run on", () => {
    const { table, observer, recorded } = world();
    table.change(PID, { state: "Z", threads: 2 });
    expect(observer.signal(recorded, "SIGKILL").kind).toBe("sent");
  });

  it("I105 sends nothing to a process that is not ours to signal", () => {
    const { table, observer, recorded } = world();
    table.change(PID, { foreign: true });
    const calls: string[] = [];
    table.beforeCall = (call) => calls.push(call);
    expect(observer.signal(recorded, "SIGKILL")).toEqual({ kind: "denied", errno: "EPERM" });
    expect(calls).not.toContain(`kill ${PID} SIGKILL`);
  });

  it("reads the start time as the last thing before the kill", () => {
    const { table, observer, recorded } = world();
    const calls: string[] = [];
    table.beforeCall = (call) => calls.push(call);
    const outcome = observer.signal(recorded, "SIGTERM", { environment: { name: "GENERATION", value: "g1" } });
    expect(outcome).toEqual({ kind: "sent", via: "narrow-window" });
    expect(calls.slice(-2)).toEqual([`/proc/${PID}/stat`, `kill ${PID} SIGTERM`]);
    expect(calls).toContain(`/proc/${PID}/environ`);
  });

  it.each([
    { name: "GENERATION", value: "g2" },
    { name: "GENERATION", value: "g" },
    { name: "ENERATION", value: "g1" },
    { name: "ABSENT", value: "" },
  ])("sends nothing when the environment lacks exactly $name=$value", (environment) => {
    const { table, observer, recorded } = world();
    expect(observer.signal(recorded, "SIGTERM", { environment })).toEqual({
      kind: "not-sent",
      verdict: { kind: "unknown", why: "marker-missing" },
    });
    expect(table.delivered).toEqual([]);
  });

  it.each([
    ["EACCES", "denied"],
    ["EMFILE", "descriptors-exhausted"],
  ])("I134 sends nothing when the environment gives %s", (errno, why) => {
    const { table, observer, recorded } = world();
    table.change(PID, { unreadable: { environ: errno } });
    const environment = { name: "GENERATION", value: "g1" };
    expect(observer.signal(recorded, "SIGTERM", { environment })).toEqual({
      kind: "not-sent",
      verdict: { kind: "unknown", why },
    });
    expect(table.delivered).toEqual([]);
  });

  it("I131 hits nobody when the number is recycled while the environment is read", () => {
    const { table, observer, recorded } = world();
    table.beforeCall = (call) => {
      if (call.endsWith("/environ")) table.start({ pid: PID, startTicks: "1001", environment: { GENERATION: "g1" } });
    };
    expect(observer.signal(recorded, "SIGKILL", { environment: { name: "GENERATION", value: "g1" } })).toEqual({
      kind: "not-sent",
      verdict: { kind: "replaced", by: "process" },
    });
    expect(table.delivered).toEqual([]);
  });

  it("says so when the process ends in the very window", () => {
    const { table, observer, recorded } = world();
    table.beforeCall = (call) => {
      if (call === `kill ${PID} SIGTERM`) table.reap(PID);
    };
    expect(observer.signal(recorded, "SIGTERM")).toEqual({
      kind: "not-sent",
      verdict: { kind: "gone", why: "no-such-pid" },
    });
  });

  it("refuses by default, and always refuses process 1 and itself", () => {
    const { table, observer, recorded } = world();
    const refusal = { kind: "not-sent", verdict: { kind: "unknown", why: "unsupported" } };
    expect(createObserver({ ports: table }).signal(recorded, "SIGTERM")).toEqual(refusal);
    expect(observer.signal(observer.self(), "SIGTERM")).toEqual(refusal);
    table.start({ pid: 1 });
    expect(observer.signal({ ...recorded, pid: 1 }, "SIGTERM")).toEqual(refusal);
    expect(table.delivered).toEqual([]);
  });
});

describe("identify and self", () => {
  it("captures every field this back-end can read", () => {
    const { observer, recorded } = world();
    expect(recorded).toEqual({
      machineId: "0123456789abcdef0123456789abcdef",
      bootId: "11111111-2222-4333-8444-555555555555",
      pid: PID,
      pidNamespace: "pid:[1]",
      timeNamespace: "time:[2]",
      startTicks: "1000",
      pidfsInode: null,
    });
    expect(observer.self().pid).toBe(10);
    expect(observer.capabilities()).toMatchObject({ backend: "linux-narrow", boundSignals: false, exits: "polling" });
  });

  it("does not identify zombies, threads, free numbers and what it cannot read", () => {
    const { table, observer } = world();
    table.start({ pid: 50, state: "Z" });
    table.start({ pid: 51, threadIds: [52] });
    table.start({ pid: 53, unreadable: { stat: "EACCES" } });
    expect([50, 52, 99, 53].map((pid) => observer.identify(pid))).toEqual([
      { kind: "gone", why: "defunct" },
      { kind: "gone", why: "no-such-pid" },
      { kind: "gone", why: "no-such-pid" },
      { kind: "unknown", why: "denied" },
    ]);
  });

  it("records a missing field as missing, and none for time namespaces on kernels without them", () => {
    const table = new FakeProcessTable();
    table.files.delete("/etc/machine-id");
    table.files.set("/proc/sys/kernel/random/boot_id", "!EACCES");
    table.files.delete("/proc/self/ns/time");
    expect(createObserver({ ports: table }).self()).toMatchObject({
      machineId: null,
      bootId: null,
      pidNamespace: "pid:[1]",
      timeNamespace: "none",
    });
    const blind = new FakeProcessTable();
    blind.files.set("/proc/self/ns/pid", "!EACCES");
    blind.files.delete("/proc/self/ns/time");
    expect(createObserver({ ports: blind }).self()).toMatchObject({ pidNamespace: null, timeNamespace: null });
  });

  it("throws identity_unreadable when even its own start time is hidden", () => {
    const table = new FakeProcessTable();
    table.files.set("/proc/self", "99");
    const coded = expect.objectContaining({ code: "identity_unreadable" });
    expect(() => createObserver({ ports: table }).self()).toThrow(coded);
  });
});

describe("bare back-end", () => {
  it.each([
    ["without /proc", (table: FakeProcessTable) => table.files.set("/proc/self", "!ENOENT"), "no-proc"],
    ["on another platform", (table: FakeProcessTable) => Object.assign(table, { platform: "sunos" }), "unsupported"],
  ])("I134 proves nothing and signals nothing %s", (_title, change, why) => {
    const { table, recorded } = world();
    change(table);
    const observer = createObserver({ mode: "narrow", ports: table });
    const verdict = { kind: "unknown", why };
    expect(observer.capabilities().backend).toBe("bare");
    expect(observer.verdict(recorded)).toEqual(verdict);
    expect(observer.identify(PID)).toEqual(verdict);
    expect(observer.signal(recorded, "SIGKILL")).toEqual({ kind: "not-sent", verdict });
    expect(() => observer.self()).toThrow(expect.objectContaining({ code: "identity_unreadable" }));
    expect(table.delivered).toEqual([]);
  });
});
