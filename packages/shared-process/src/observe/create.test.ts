import { describe, expect, it } from "vitest";
import { FakeProcessTable } from "../testing/index.ts";
import { createObserver } from "./create.ts";
import { BACKENDS, PID, world, type World } from "./world.testing.ts";

describe.each(BACKENDS)("identify and self by %s", (backend) => {
  it("capture every field this back-end can read", () => {
    const { observer, recorded } = world(backend);
    const kernelId: unknown = expect.stringMatching(/^\d+$/);
    expect(recorded).toEqual({
      machineId: "0123456789abcdef0123456789abcdef",
      bootId: "11111111-2222-4333-8444-555555555555",
      pid: PID,
      pidNamespace: "pid:[1]",
      timeNamespace: "time:[2]",
      startTicks: "1000",
      pidfsInode: backend === "pidfd" ? kernelId : null,
    });
    expect(observer.self()).toMatchObject({ pid: 10, startTicks: "1000" });
    expect(observer.identify(10)).toEqual({ kind: "identified", identity: observer.self() });
  });

  it("do not identify zombies, threads and free numbers", () => {
    const { table, observer } = world(backend);
    table.start({ pid: 50, state: "Z" });
    table.start({ pid: 51, threadIds: [52] });
    expect([50, 52, 99].map((pid) => observer.identify(pid))).toEqual([
      { kind: "gone", why: "defunct" },
      { kind: "gone", why: "no-such-pid" },
      { kind: "gone", why: "no-such-pid" },
    ]);
  });

  it("identify a leader that has ended while its threads run, and another user's process", () => {
    const { table, observer } = world(backend);
    table.start({ pid: 50, state: "Z", threads: 2 });
    table.start({ pid: 51, foreign: true });
    expect([50, 51].map((pid) => observer.identify(pid).kind)).toEqual(["identified", "identified"]);
  });

  it.each([
    ["hidden", { unreadable: { stat: "ENOENT" } }],
    ["denied", { unreadable: { stat: "EACCES" } }],
    ["descriptors-exhausted", { unreadable: { stat: "EMFILE" } }],
    ["unparsable", { statText: "42 (x" }],
  ])("need the kernel's id where the start time is unreadable: %s", (why, fields) => {
    const { table, observer, recorded } = world(backend);
    table.change(PID, fields);
    expect(observer.identify(PID)).toEqual(
      backend === "pidfd"
        ? { kind: "identified", identity: { ...recorded, startTicks: null } }
        : { kind: "unknown", why },
    );
  });

  it("name the end, where the kernel tells it, of a process whose start time is unreadable", () => {
    const { table, observer } = world(backend);
    table.change(PID, { unreadable: { stat: "ENOENT" } });
    table.end(PID);
    expect(observer.identify(PID)).toEqual(
      backend === "narrow" ? { kind: "unknown", why: "hidden" } : { kind: "gone", why: "defunct" },
    );
  });
});

describe("self without a readable start time", () => {
  it("is told from others by the kernel's id alone", () => {
    const { table, observer } = world("pidfd");
    table.files.set("/proc/self", "99");
    expect(observer.self()).toMatchObject({ startTicks: null, pid: 10 });
  });

  it.each(["ticks", "narrow"] as const)("throws identity_unreadable by %s", (backend) => {
    const { table, observer } = world(backend);
    table.files.set("/proc/self", "99");
    expect(() => observer.self()).toThrow(expect.objectContaining({ code: "identity_unreadable" }));
  });
});

const capabilities = (made: World): object => made.observer.capabilities();

describe("capabilities", () => {
  it("say what each back-end proves", () => {
    expect(capabilities(world("pidfd"))).toEqual({
      backend: "linux-pidfd",
      reason: null,
      kernelIds: true,
      boundSignals: true,
      boundGroupSignals: true,
      exits: "events",
      exitStatus: true,
      peers: true,
    });
    expect(capabilities(world("ticks"))).toEqual({
      backend: "linux-pidfd",
      reason: null,
      kernelIds: false,
      boundSignals: true,
      boundGroupSignals: false,
      exits: "events",
      exitStatus: false,
      peers: false,
    });
    expect(capabilities(world("narrow"))).toEqual({
      backend: "linux-narrow",
      reason: "no library is given",
      kernelIds: false,
      boundSignals: false,
      boundGroupSignals: false,
      exits: "polling",
      exitStatus: false,
      peers: false,
    });
  });
});

describe("the host", () => {
  it("is recorded with missing fields as missing, and none for time namespaces on kernels without them", () => {
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

  it("is read again while a field of it is missing, and not when it is whole", () => {
    const { table, observer, calls } = world("pidfd");
    observer.self();
    expect(calls.filter((call) => call.includes("boot_id"))).toEqual([]);
    const late = new FakeProcessTable();
    late.files.set("/proc/sys/kernel/random/boot_id", "!EMFILE");
    const lateObserver = createObserver({ ports: late });
    expect(lateObserver.self().bootId).toBeNull();
    late.files.set("/proc/sys/kernel/random/boot_id", table.files.get("/proc/sys/kernel/random/boot_id") ?? "");
    expect(lateObserver.self().bootId).toBe(observer.self().bootId);
  });
});

describe("bare back-end", () => {
  it.each([
    ["without /proc", (table: FakeProcessTable) => table.files.set("/proc/self", "!ENOENT"), "no-proc"],
    ["on another platform", (table: FakeProcessTable) => Object.assign(table, { platform: "sunos" }), "unsupported"],
  ])("I134 proves nothing and signals nothing %s", (_title, change, why) => {
    const { table, recorded } = world("narrow");
    change(table);
    const observer = createObserver({ mode: "narrow", ports: table });
    const verdict = { kind: "unknown", why };
    const unsent = { kind: "not-sent", verdict };
    expect(observer.capabilities()).toMatchObject({ backend: "bare", exits: "none", boundSignals: false });
    expect(observer.verdict(recorded)).toEqual(verdict);
    expect(observer.open(recorded)).toEqual(verdict);
    expect(observer.identify(PID)).toEqual(verdict);
    expect(observer.signal(recorded, "SIGKILL")).toEqual(unsent);
    expect(observer.signalGroup(recorded, "SIGKILL")).toEqual(unsent);
    expect(() => observer.self()).toThrow(expect.objectContaining({ code: "identity_unreadable" }));
    expect(table.delivered).toEqual([]);
  });

  it("is not needed without /proc where there are pidfds: a record with the kernel's id is still told", () => {
    const { table, recorded, pidfds } = world("pidfd");
    table.files.set("/proc/self", "!ENOENT");
    const observer = createObserver({ ports: table, pidfds });
    expect(observer.verdict(recorded)).toEqual({ kind: "current", basis: "kernel-id" });
    expect(observer.signal(recorded, "SIGTERM")).toEqual({ kind: "sent", via: "pidfd" });
  });
});
