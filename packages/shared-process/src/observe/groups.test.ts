import { describe, expect, it } from "vitest";
import type { SignalOutcome } from "../types.ts";
import { type Backend, BACKENDS, type Each, all, open, PID, world, type World } from "./world.testing.ts";

const MEMBER = 43;
const marker = { environment: { name: "GENERATION", value: "g1" } };

const bound: SignalOutcome = { kind: "sent", via: "pidfd" };
const narrow: SignalOutcome = { kind: "sent", via: "narrow-window" };
const SENT = { pidfd: bound, ticks: narrow, narrow };
const gone = (why: "defunct" | "no-such-pid"): SignalOutcome => ({ kind: "not-sent", verdict: { kind: "gone", why } });
const DEFUNCT = all(gone("defunct"));
const GONE = all(gone("no-such-pid"));
const DENIED = all<SignalOutcome>({ kind: "denied", errno: "ESRCH" });

interface GroupState {
  readonly title: string;
  readonly become: (world: World) => void;
  readonly record: Each<SignalOutcome>;
  readonly held: Each<SignalOutcome>;
  /** With a marker, which the environment of an ended leader has no more. */
  readonly marked: Each<SignalOutcome>;
}

const addMember = ({ table }: World): void => void table.start({ pid: MEMBER, pgrp: PID, ignores: ["SIGHUP"] });

const states: readonly GroupState[] = [
  { title: "the leader runs", become: addMember, record: SENT, held: SENT, marked: SENT },
  {
    title: "I97 the leader is a zombie and a member lives",
    become: (made) => {
      addMember(made);
      made.table.change(PID, { state: "Z", environment: {} });
    },
    record: SENT,
    held: SENT,
    marked: DEFUNCT,
  },
  {
    title: "I96 the leader is reaped and a member lives",
    become: (made) => {
      addMember(made);
      made.table.reap(PID);
    },
    record: GONE,
    held: { ...GONE, pidfd: bound },
    marked: GONE,
  },
  {
    title: "the leader is reaped and nobody is left",
    become: ({ table }) => table.reap(PID),
    record: GONE,
    held: GONE,
    marked: GONE,
  },
  {
    title: "I131 the number is another group's",
    become: ({ table }) => void table.start({ pid: PID, startTicks: "1001" }),
    record: all({ kind: "not-sent", verdict: { kind: "replaced", by: "process" } }),
    held: GONE,
    marked: all({ kind: "not-sent", verdict: { kind: "replaced", by: "process" } }),
  },
  {
    // Its own end is not proven by that: a verdict here would be wrong.
    title: "it leads no group",
    become: ({ table }) => table.change(PID, { pgrp: 41 }),
    record: DENIED,
    held: DENIED,
    marked: DENIED,
  },
];

const eachState = states.map((state) => [state.title, state] as const);
const deafWorld = (backend: Backend): World => world(backend, { process: { ignores: ["SIGHUP"] } });

/** Either the member was hit as well, or nobody was. */
const isReached = (outcome: SignalOutcome, { table }: World): boolean =>
  outcome.kind === "sent" ? table.delivered.some(({ pid }) => pid === MEMBER) : table.delivered.length === 0;

describe.each(BACKENDS)("signalGroup by %s", (backend) => {
  it.each(eachState)("to a record, when %s", (_title, { become, record }) => {
    const made = deafWorld(backend);
    become(made);
    expect(made.observer.signalGroup(made.recorded, "SIGHUP")).toEqual(record[backend]);
    expect(isReached(record[backend], made)).toBe(true);
  });

  it.each(eachState)("to a record with a marker, when %s", (_title, { become, marked }) => {
    const made = deafWorld(backend);
    become(made);
    expect(made.observer.signalGroup(made.recorded, "SIGHUP", marker)).toEqual(marked[backend]);
    expect(isReached(marked[backend], made)).toBe(true);
  });

  it.each(eachState)("through a handle, when %s", (_title, { become, held }) => {
    const made = deafWorld(backend);
    using handle = open(made);
    become(made);
    expect(handle.signalGroup("SIGHUP")).toEqual(held[backend]);
    expect(isReached(held[backend], made)).toBe(true);
  });

  it.each([
    ["it is the caller's own", "unsupported", (made: World) => made.table.change(made.table.pid, { pgrp: PID })],
    ["the caller's own cannot be told: a lost /proc", "no-proc", loseProc],
    ["the caller's own cannot be told: a stranger's /proc", "foreign-proc", beStranger],
    ["I155 the caller's own cannot be told: no descriptor", "descriptors-exhausted", failOwn("EMFILE")],
    ["the caller's own cannot be told: garbage", "unparsable", spoilOwn],
  ])("refuses, when %s", (_title, why, become) => {
    const made = world(backend);
    using handle = open(made);
    become(made);
    expect(handle.signalGroup("SIGKILL")).toEqual({ kind: "not-sent", verdict: { kind: "unknown", why } });
    expect(made.observer.signalGroup(made.recorded, "SIGKILL").kind).toBe("not-sent");
    expect(made.table.delivered).toEqual([]);
  });

  it("I105 is denied where a member is another user's", () => {
    const made = world(backend);
    made.table.change(PID, { foreign: true });
    expect(made.observer.signalGroup(made.recorded, "SIGKILL")).toEqual({ kind: "denied", errno: "EPERM" });
    expect(made.table.delivered).toEqual([]);
  });
});

function loseProc({ table }: World): void {
  table.files.set("/proc/self", "!ENOENT");
}

function beStranger({ table }: World): void {
  table.files.set("/proc/self", "99");
}

function failOwn(errno: string): (made: World) => void {
  return ({ table }) => table.change(table.pid, { unreadable: { stat: errno } });
}

function spoilOwn({ table }: World): void {
  table.change(table.pid, { statText: "10 (x" });
}

describe("signalGroup without the kernel's flag", () => {
  const features = { groupSignals: false };

  it.each([
    ["narrow", narrow],
    ["refuse", { kind: "not-sent", verdict: { kind: "unknown", why: "unsupported" } }],
  ] as const)("goes by the number of a leader that is not reaped, in narrow mode only: %s", (mode, outcome) => {
    const made = world("pidfd", { mode, features });
    using handle = open(made);
    expect(handle.signalGroup("SIGTERM")).toEqual(outcome);
  });

  it.each([
    ["I155 no descriptor is left", "descriptors-exhausted", "EMFILE"],
    ["it is hidden", "hidden", "ENOENT"],
    ["it may not be read", "denied", "EACCES"],
  ])("sends nothing, and says why, when the group of the leader cannot be told: %s", (_title, why, stat) => {
    const made = world("pidfd", { features });
    using handle = open(made);
    made.table.change(PID, { unreadable: { stat } });
    expect(handle.signalGroup("SIGTERM")).toEqual({ kind: "not-sent", verdict: { kind: "unknown", why } });
    expect(made.table.delivered).toEqual([]);
  });

  it("is said in the capabilities", () => {
    const { observer } = world("pidfd", { features });
    expect(observer.capabilities()).toMatchObject({ boundSignals: true, boundGroupSignals: false, kernelIds: true });
  });
});
