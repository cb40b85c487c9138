import type { EnvironmentScan, FoundProcess, Place, ProcessIdentity } from "@holdfast/shared-process";
import { describe, expect, it } from "vitest";
import type { HomeView, WorkerView } from "./home-view.ts";
import { findOrphans } from "./orphans.ts";
import type { Orphan, OrphanParts } from "./orphans.ts";
import { dryRun, isEmpty, planFrom } from "./force-stop-plan.ts";

const MARKER = "a".repeat(24);
const OTHER = "b".repeat(24);
const GENERATION = "0b0e4a3e-3c53-4b3f-8f3c-3d7f0c7f3a11";
const HELD = { place: "here", isRemoved: false, home: "/h", sessionId: "s9" } as const;
const own = { HOLDFAST_HOME: "/h", HOLDFAST_GENERATION: GENERATION };

const identity = (pid: number): ProcessIdentity => ({
  machineId: "m",
  bootId: "b",
  pid,
  pidNamespace: "pid:[1]",
  timeNamespace: "time:[1]",
  startTicks: `${pid}00`,
  pidfsInode: null,
});

const process = (pid: number, values: FoundProcess["values"], ppid = 1): FoundProcess => ({
  identity: identity(pid),
  command: "node",
  ppid,
  values,
});

function scanOf(processes: readonly FoundProcess[], problem?: string): EnvironmentScan {
  const parents = new Map(processes.map(({ identity: { pid }, ppid }) => [pid, ppid]));
  const ancestorsOf = (pid: number): number[] => {
    const parent = parents.get(pid);
    return parent === undefined ? [] : [parent, ...ancestorsOf(parent)];
  };
  const common = { processes, unreadable: 0, usageOf: () => null, ancestorsOf };
  return problem === undefined ? { kind: "complete", ...common } : { kind: "incomplete", problem, ...common };
}

function worker(pid: number, verdict: WorkerView["verdict"], marker = MARKER): WorkerView {
  const paths = { socketPath: "/h/run/w.sock", lifelinePath: null, cgroupPath: null, protocol: 1 };
  const launched = { generation: GENERATION, identity: identity(pid), token: "t", marker, ...paths };
  const stamps = { schemaVersion: 2, epoch: 1, updatedAt: "" };
  const descriptor = { ...stamps, sessionId: "s1", lifecycle: "ready", process: launched, launches: [] } as const;
  return { sessionId: "s1", descriptor: { ...descriptor, launches: [] }, verdict, record: null };
}

const view = (parts: Partial<HomeView> = {}): HomeView => ({
  home: "/h",
  owner: { kind: "none" },
  lost: [],
  workers: [],
  quarantined: [],
  bare: [],
  retained: [],
  sessionCount: 0,
  problems: [],
  unwritable: [],
  ...parts,
});

function orphans(
  processes: readonly FoundProcess[],
  homes: readonly HomeView[] = [view()],
  more: Partial<OrphanParts> = {},
): readonly Orphan[] {
  const homeOf = (path: string): HomeView | undefined => homes.find(({ home }) => home === path);
  const seen = {
    heldByWorker: () => HELD,
    homesHeldBy: () => ({ places: new Set<Place>() }),
    sharesMounts: () => true,
  };
  return findOrphans({ scan: scanOf(processes), homes, homeOf, remembered: [], ...seen, ...more });
}

const holding = (place: Place): Partial<OrphanParts> => ({ homesHeldBy: () => ({ places: new Set([place]) }) });

const agent = (pid: number, marker = MARKER, ppid = 1): FoundProcess =>
  process(pid, { HOLDFAST_SESSION: marker }, ppid);

describe("findOrphans", () => {
  it("leaves alone a worker that a descriptor names, and what carries its marker or runs below it", () => {
    const processes = [process(20, own), agent(21), agent(22, OTHER, 20), process(23, own, 20)];
    expect(orphans(processes, [view({ workers: [worker(20, "current")] })])).toEqual([]);
    expect(orphans(processes, [view({ workers: [worker(20, "unknown")] })])).toEqual([]);
  });

  it("finds a worker that no descriptor names, and its agents with it", () => {
    const found = orphans([process(20, own), agent(21, MARKER, 20), agent(22, MARKER, 21)]);
    const whose = { workerId: "s9", home: "/h", doubt: null };
    expect(found).toMatchObject([
      { identity: { pid: 20 }, proof: { name: "HOLDFAST_GENERATION", value: GENERATION }, ...whose },
      { identity: { pid: 21 }, proof: { name: "HOLDFAST_SESSION", value: MARKER }, ...whose },
      { identity: { pid: 22 }, ...whose },
    ]);
  });

  it("I131 doubts a worker that holds nothing of one, and takes no marker for ours that is not of our form", () => {
    expect(
      orphans([process(20, own), agent(21, "mine")], [view()], {
        heldByWorker: () => ({ ...HELD, place: null, isRemoved: false, sessionId: null }),
      }),
    ).toMatchObject([
      { identity: { pid: 20 }, workerId: GENERATION, doubt: "only its environment says that it is a worker" },
    ]);
    expect(orphans([process(20, { ...own, HOLDFAST_GENERATION: "1" })])).toEqual([]);
  });

  it("I131 I147 ends nobody of a home in another mount namespace, which may have the path of one here", () => {
    const cannotBeSeen = { doubt: expect.stringContaining("another mount namespace") };
    for (const place of ["elsewhere", "unknown"] as const)
      expect(
        orphans([process(20, own), agent(21, MARKER, 20)], [view()], {
          heldByWorker: () => ({ ...HELD, home: null, place }),
        }),
      ).toMatchObject([
        { identity: { pid: 20 }, home: null, ...cannotBeSeen },
        { identity: { pid: 21 }, home: null, ...cannotBeSeen },
      ]);
    const supervisor = { ...process(30, { HOLDFAST_HOME: "/h" }), command: "holdfastd" };
    expect(orphans([supervisor, agent(31, MARKER, 30)], [view()], holding("elsewhere"))).toMatchObject([
      { identity: { pid: 30 }, home: null, ...cannotBeSeen },
      { identity: { pid: 31 }, home: null, ...cannotBeSeen },
    ]);
    expect(orphans([supervisor], [view()], holding("here"))).toEqual([]);
    // What is left there when both are gone: its records have not been read.
    expect(orphans([agent(21)], [view()], { sharesMounts: () => false })).toMatchObject([
      { doubt: "a record that cannot be read may name it" },
    ]);
  });

  it("finds what a worker left that is gone, with the session that its descriptor names", () => {
    const homes = [view({ workers: [worker(20, "gone")] })];
    expect(orphans([agent(21)], homes)).toMatchObject([{ workerId: "s1", home: "/h", doubt: null }]);
  });

  it("finds what is retained or remembered, and what nobody knows", () => {
    const retained = [{ sessionId: "s2", identity: identity(21), marker: MARKER, marked: true }];
    expect(orphans([agent(21)], [view({ retained })])).toMatchObject([{ workerId: "s2", home: "/h" }]);
    const remembered = [{ marker: MARKER, sessionId: "s3", home: "/h" }];
    expect(orphans([agent(21)], [view()], { remembered })).toMatchObject([{ workerId: "s3", home: "/h" }]);
    expect(orphans([agent(21)])).toMatchObject([{ workerId: null, home: null, doubt: null }]);
  });

  it("I117 is certain of nothing while a record or a process could not be read", () => {
    const doubt = "a record that cannot be read may name it";
    const homes = [view({ problems: ["/h: s4: its descriptor is not JSON"] })];
    expect(orphans([process(20, own), agent(21)], homes)).toMatchObject([{ doubt }, { doubt }]);
    expect(orphans([agent(21)], [view()], { scan: scanOf([agent(21)], "EMFILE") })).toMatchObject([{ doubt }]);
  });

  it("I153 leaves alone a supervisor that carries a session's marker, with what runs below it", () => {
    const supervisor = agent(20);
    const homes = [view({ lost: [supervisor] })];
    expect(orphans([supervisor, agent(21, MARKER, 20)], homes)).toEqual([]);
  });
});

const seen = (homes: readonly HomeView[], left: readonly Orphan[], processes: readonly FoundProcess[] = []) => ({
  scan: scanOf(processes),
  homes,
  orphans: left,
  problems: [],
});

describe("planFrom", () => {
  const request = { home: "/h", all: false };
  const alive = [
    view({ workers: [worker(20, "current")] }),
    view({ home: "/other", workers: [worker(30, "current")] }),
  ];

  it("takes this home alone and counts the rest, or takes all", () => {
    const left = orphans([agent(40)]);
    const one = planFrom(seen(alive, left), request, 99);
    expect(one.homes.flatMap(({ workers }) => workers.map(({ pid }) => pid))).toEqual([20]);
    expect([one.processes, one.untouched]).toEqual([[], { daemons: 0, workers: 1, processes: 1 }]);
    const all = planFrom(seen(alive, left), { ...request, all: true }, 99);
    expect(all.homes.flatMap(({ workers }) => workers.map(({ pid }) => pid))).toEqual([20, 30]);
    expect([all.processes.length, all.untouched]).toEqual([1, { daemons: 0, workers: 0, processes: 0 }]);
  });

  it("keeps what is quarantined, what is in doubt, and what this command runs inside of", () => {
    const quarantined = [{ sessionId: "s1", reason: "damage" }];
    const homes = [view({ workers: [worker(20, "current")], quarantined })];
    const left = orphans([agent(40), agent(41, MARKER, 40)]);
    const plan = planFrom(seen(homes, left, [agent(40), process(99, {}, 40)]), { ...request, all: true }, 99);
    expect(plan.homes[0]?.workers).toEqual([]);
    expect(plan.kept).toMatchObject([
      { kind: "descriptor", id: "s1", reason: "damage" },
      { kind: "process", reason: "this command runs inside it" },
    ]);
    expect(plan.processes.map(({ identity: { pid } }) => pid)).toEqual([41]);
  });

  it("I129 stops nothing where no stop can be recorded, and names each of it as failed before anything is done", () => {
    const reason = "EROFS: read-only file system";
    const homes = ["/h", "/h/workers"].map((folder) =>
      view({ workers: [worker(20, "current")], unwritable: [{ folder, errno: "EROFS", reason }] }),
    );
    const plans = homes.map((home) => planFrom(seen([home], []), request, 99));
    // Without a right to the home's own directory alone its records can be written.
    expect(plans.map(isEmpty)).toEqual([false, true]);
    expect(plans.map(dryRun)).toMatchObject([
      { plan: [{ kind: "worker", id: "s1", pid: 20 }], failed: [] },
      { plan: [], failed: [{ kind: "worker", id: "s1", pid: 20, reason: expect.stringContaining(reason) }] },
    ]);
  });

  it("cleans up what a dead worker left in the records, but leaves a failed session to a person", () => {
    const [gone, failed] = [worker(20, "gone"), worker(21, "replaced")];
    const dead = { ...failed, sessionId: "s2", descriptor: { ...failed.descriptor, lifecycle: "failed" as const } };
    const plan = planFrom(seen([view({ workers: [gone, dead], bare: ["s3"] })], []), request, 99);
    expect(plan.homes[0]?.descriptors.map(({ sessionId }) => sessionId)).toEqual(["s1", "s3"]);
  });
});
