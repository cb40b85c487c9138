import { describe, expect, it } from "vitest";
import type { FakeProcess } from "../testing/index.ts";
import type { OpenResult, ProcessHandle, ProcessIdentity, SignalOutcome } from "../types.ts";
import {
  type Backend,
  BACKENDS,
  childWith,
  open,
  openDescriptors,
  PID,
  socketOf,
  world,
  type World,
  type WorldOptions,
} from "./world.testing.ts";

const marker = { environment: { name: "GENERATION", value: "g1" } };

/** The newcomer carries the same marker, so that nothing but its identity can save it. */
const asProcess = (startTicks: string): Partial<FakeProcess>[] => [
  { pid: PID, startTicks, environment: { GENERATION: "g1" } },
];
const newcomers: readonly (readonly [string, readonly Partial<FakeProcess>[]])[] = [
  ["a process", asProcess("1001")],
  ["a process of the same tick", asProcess("1000")],
  ["a thread", [{ pid: 41, threadIds: [PID], threads: 2, startTicks: "1001", environment: { GENERATION: "g1" } }]],
];

type Send = (made: World, handle: ProcessHandle) => SignalOutcome;
const sends: readonly (readonly [string, Send])[] = [
  ["signal", ({ observer, recorded }) => observer.signal(recorded, "SIGKILL")],
  ["signal with a marker", ({ observer, recorded }) => observer.signal(recorded, "SIGKILL", marker)],
  ["signalGroup", ({ observer, recorded }) => observer.signalGroup(recorded, "SIGKILL")],
  ["signalGroup with a marker", ({ observer, recorded }) => observer.signalGroup(recorded, "SIGKILL", marker)],
  ["a handle's signal", (_made, handle) => handle.signal("SIGKILL")],
  ["a handle's signal with a marker", (_made, handle) => handle.signal("SIGKILL", marker)],
  ["a handle's signalGroup", (_made, handle) => handle.signalGroup("SIGKILL")],
  ["a handle's signalGroup with a marker", (_made, handle) => handle.signalGroup("SIGKILL", marker)],
];

function recycle({ table }: World, newcomer: readonly Partial<FakeProcess>[]): void {
  table.reap(PID);
  for (const process of newcomer) table.start({ pid: PID, ...process });
}

/** Gives the number away directly before call `index` of what comes; says before which call that was. */
function recycleBefore(made: World, index: number, newcomer: readonly Partial<FakeProcess>[]): { at: string | null } {
  const recycled: { at: string | null } = { at: null };
  let count = 0;
  made.table.beforeCall = (call) => {
    if (count === index) {
      recycled.at = call;
      recycle(made, newcomer);
    }
    count += 1;
  };
  return recycled;
}

interface Try {
  readonly at: string;
  readonly outcome: SignalOutcome;
  readonly hit: boolean;
}

/** One try for each call that `send` makes, with the number given away before just that one. */
function tries(make: () => World, send: Send, newcomer: readonly Partial<FakeProcess>[]): readonly Try[] {
  const found: Try[] = [];
  for (let index = 0; ; index += 1) {
    const made = make();
    const handle = open(made);
    const recycled = recycleBefore(made, index, newcomer);
    const outcome = send(made, handle);
    handle[Symbol.dispose]();
    expect(openDescriptors(made)).toBe(0);
    if (recycled.at === null) return found;
    // The recorded process is gone by then: whatever is delivered now hits somebody else.
    found.push({ at: recycled.at, outcome, hit: made.table.delivered.length > 0 });
  }
}

const isKill = ({ at }: Try): boolean => at.startsWith("kill ") && at.endsWith("SIGKILL");

describe.each(newcomers)("the number becomes that of %s", (title, newcomer) => {
  const isSameTick = title.includes("same tick");

  it.each(sends)("I131 %s by pidfd hits nobody, between whichever two system calls", (_send, send) => {
    const found = tries(() => world("pidfd"), send, newcomer);
    expect(found.length).toBeGreaterThan(1);
    expect(found.filter(({ hit }) => hit)).toEqual([]);
    for (const { outcome } of found) expect(outcome.kind).toBe("not-sent");
  });

  it.each(sends)("I131 %s by pidfd hits nobody without the kernel's ids, but for the same tick", (_send, send) => {
    const found = tries(() => world("pidfd", { features: { kernelIds: false } }), send, newcomer);
    const hits = found.filter(({ hit }) => hit);
    // Only what was another's before it was opened can be mistaken, and only by its start time.
    expect(hits.every(({ at }) => isSameTick && !/^pidfd_(poll|send)/.test(at))).toBe(true);
  });

  it.each(sends)(
    "%s in narrow mode can hit it between the last look and the kill, and at no other time",
    (name, send) => {
      const hits = tries(() => world("narrow"), send, newcomer).filter(({ hit }) => hit);
      const isMistakable = isSameTick && !name.startsWith("a handle");
      expect(hits.filter((one) => !isKill(one) && !isMistakable)).toEqual([]);
      // The window is real; a fake that could not show it would prove nothing.
      expect(hits.some(isKill)).toBe(title !== "a thread" || !name.includes("Group"));
    },
  );

  it.each(sends)("I131 %s hits nobody in the default mode without the library", (_send, send) => {
    const found = tries(() => world("narrow", { mode: "refuse" }), send, newcomer);
    expect(found.filter(({ hit }) => hit)).toEqual([]);
  });
});

interface Captured {
  readonly identity: ProcessIdentity;
  readonly handle: ProcessHandle | null;
}

const held = (result: OpenResult): Captured | null =>
  result.kind === "opened" ? { identity: result.handle.identity, handle: result.handle } : null;

const captures: readonly (readonly [string, (made: World) => Captured | null])[] = [
  [
    "identify",
    ({ observer }) => {
      const seen = observer.identify(PID);
      return seen.kind === "identified" ? { identity: seen.identity, handle: null } : null;
    },
  ],
  ["open", ({ observer, recorded }) => held(observer.open(recorded))],
  ["peer", ({ observer }) => held(observer.peer(socketOf(PID)))],
];

const variants: readonly (readonly [string, Backend, WorldOptions])[] = [
  ["pidfd", "pidfd", {}],
  ["pidfd without the kernel's ids", "pidfd", { features: { kernelIds: false } }],
  ["narrow", "narrow", {}],
];

/** Whose identity it is, or `mixed`; and whether the one that is held is the recorded one, which has ended. */
function whose({ recorded }: World, { identity, handle }: Captured): { readonly of: string; readonly isHeld: boolean } {
  const isOld = identity.startTicks === recorded.startTicks && identity.pidfsInode === recorded.pidfsInode;
  const isNewId =
    recorded.pidfsInode === null ? identity.pidfsInode === null : identity.pidfsInode !== recorded.pidfsInode;
  const of = isOld ? "recorded" : isNewId && identity.startTicks === "1001" ? "newcomer" : "mixed";
  const isGone = handle?.verdict().kind === "gone";
  return { of, isHeld: handle === null || isGone === (of === "recorded") };
}

describe.each(variants)("captures by %s", (_variant, backend, options) => {
  it.each(captures)(
    "%s gives one process's identity, never parts of two, and leaves nothing open",
    (_name, capture) => {
      for (let index = 0; ; index += 1) {
        const made = world(backend, options);
        const recycled = recycleBefore(made, index, asProcess("1001"));
        const captured = capture(made);
        if (recycled.at === null) break;
        made.table.beforeCall = () => {};
        const found = captured === null ? null : whose(made, captured);
        expect(found?.of).not.toBe("mixed");
        expect(found?.isHeld ?? true).toBe(true);
        captured?.handle?.[Symbol.dispose]();
        expect(openDescriptors(made)).toBe(0);
      }
    },
  );
});

describe("adopt", () => {
  it.each(BACKENDS)("I131 by %s takes no stranger for a child that is reaped already and not told to be", (backend) => {
    const made = world(backend);
    made.table.start({ pid: PID, ppid: 1 });
    const child = childWith({ pid: PID });
    expect(made.observer.adopt(child)).toEqual({ kind: "gone", why: "no-such-pid" });
    expect(child.listenerCount("exit")).toBe(0);
    expect(openDescriptors(made)).toBe(0);
    made.table.change(PID, { ppid: made.table.pid, unreadable: { stat: "EACCES" } });
    expect(made.observer.adopt(child)).toEqual({ kind: "unknown", why: "denied" });
    expect(openDescriptors(made)).toBe(0);
  });

  it.each(BACKENDS)("by %s binds to the child that is not reaped yet, whatever comes after", (backend) => {
    const made = world(backend);
    const result = made.observer.adopt(childWith({ pid: PID }));
    if (result.kind !== "opened") throw new Error(result.kind);
    using handle = result.handle;
    expect(handle.identity).toEqual(made.recorded);
    recycle(made, asProcess("1000"));
    expect(handle.verdict()).toEqual({ kind: "gone", why: "no-such-pid" });
    expect(handle.signal("SIGKILL").kind).toBe("not-sent");
    expect(made.table.delivered).toEqual([]);
  });
});
