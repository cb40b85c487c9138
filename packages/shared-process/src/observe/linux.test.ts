import { describe, expect, it } from "vitest";
import { createExitPoller } from "../exits/polling.ts";
import type { FoundPidfds } from "../library/system.ts";
import type { ProcessHandle, ProcessObserver } from "../types.ts";
import { createLinuxObserver } from "./linux.ts";
import { childWith, opened, openDescriptors, PID, socketOf, world, type World } from "./world.testing.ts";

/** What asks for the library at once under the policy `for-signals`. */
const strong: readonly (readonly [string, (made: World) => unknown])[] = [
  ["capabilities", ({ observer }) => observer.capabilities()],
  ["open", ({ observer, recorded }) => opened(observer.open(recorded))],
  ["peer", ({ observer }) => opened(observer.peer(socketOf(PID)))],
  ["signal", ({ observer, recorded }) => observer.signal(recorded, "SIGCONT")],
  ["signalGroup", ({ observer, recorded }) => observer.signalGroup(recorded, "SIGCONT")],
];

const usesPidfds = ({ calls }: World): boolean => calls.some((call) => call.startsWith("pidfd"));

describe("the policy at-first-use", () => {
  it("uses pidfds from the first question on", () => {
    const made = world("pidfd");
    expect(made.recorded.pidfsInode).not.toBeNull();
    made.observer.verdict(made.recorded);
    expect(usesPidfds(made)).toBe(true);
  });
});

describe("the policy for-signals", () => {
  it("looks without pidfds, and gives records without the kernel's id", () => {
    const made = world("pidfd", { library: "for-signals" });
    const { observer, recorded } = made;
    expect(recorded.pidfsInode).toBeNull();
    expect(observer.verdict(recorded)).toEqual({ kind: "current", basis: "start-time" });
    expect(observer.self().pidfsInode).toBeNull();
    expect(observer.identify(PID).kind).toBe("identified");
    opened(observer.adopt(childWith({ pid: PID })))[Symbol.dispose]();
    expect(usesPidfds(made)).toBe(false);
    expect(made.pidfds.openCount).toBe(0);
  });

  it.each(strong)("uses them with %s, and for every question after it", (_name, ask) => {
    const made = world("pidfd", { library: "for-signals" });
    ask(made);
    made.calls.length = 0;
    expect(made.observer.verdict(made.recorded)).toEqual({ kind: "current", basis: "start-time" });
    expect(usesPidfds(made)).toBe(true);
    expect(made.observer.self().pidfsInode).not.toBeNull();
  });

  it("binds the signal to the process although its record has no kernel id", () => {
    const made = world("pidfd", { library: "for-signals", mode: "refuse" });
    expect(made.observer.signal(made.recorded, "SIGTERM")).toEqual({ kind: "sent", via: "pidfd" });
  });
});

const adoptIn = (made: World): ProcessHandle => opened(made.observer.adopt(childWith({ pid: PID })));

const withoutYet = (): World =>
  world("pidfd", { library: "for-signals", mode: "refuse", process: { ignores: ["SIGHUP"] } });

describe("the handle of a child that was adopted before the library was there", () => {
  it.each(["signal", "signalGroup"] as const)("holds it by pidfd from the first %s on", (send) => {
    const made = withoutYet();
    const handle = adoptIn(made);
    expect(handle.verdict()).toEqual({ kind: "current", basis: "handle" });
    expect(usesPidfds(made)).toBe(false);
    for (let count = 0; count < 2; count += 1) expect(handle[send]("SIGHUP")).toEqual({ kind: "sent", via: "pidfd" });
    expect(made.calls.filter((call) => call === `pidfd_open ${PID}`)).toHaveLength(1);
    handle[Symbol.dispose]();
    expect(openDescriptors(made)).toBe(0);
    expect(() => handle[send]("SIGHUP")).toThrow(expect.objectContaining({ code: "invariant_broken" }));
  });

  it("signals its group in refuse mode also where the kernel does not bind that", () => {
    const made = world("ticks", { library: "for-signals", mode: "refuse" });
    using handle = adoptIn(made);
    expect(handle.signalGroup("SIGTERM")).toEqual({ kind: "sent", via: "unreaped-child" });
  });

  it("I96 reaches its group after its end as well", () => {
    const made = withoutYet();
    using handle = adoptIn(made);
    handle.signal("SIGHUP");
    made.table.start({ pid: PID + 1, pgrp: PID });
    made.table.reap(PID);
    expect(handle.signalGroup("SIGKILL")).toEqual({ kind: "sent", via: "pidfd" });
    expect(made.table.delivered.at(-1)).toEqual({ pid: PID + 1, signal: "SIGKILL" });
  });

  it("loads nothing for one that has ended, also after it was let go", () => {
    const made = withoutYet();
    const handle = adoptIn(made);
    made.table.reap(PID);
    const gone = { kind: "not-sent", verdict: { kind: "gone", why: "no-such-pid" } };
    expect(handle.signal("SIGKILL")).toEqual(gone);
    handle[Symbol.dispose]();
    expect(handle.signal("SIGKILL")).toEqual(gone);
    expect(usesPidfds(made)).toBe(false);
  });

  it("I131 hits nobody when its number is given away while it is opened", () => {
    const made = withoutYet();
    using handle = adoptIn(made);
    made.table.beforeCall = (call) => void (call === `pidfd_open ${PID}` && made.table.start({ pid: PID }));
    expect(handle.signal("SIGKILL").kind).toBe("not-sent");
    expect(made.table.delivered).toEqual([]);
    expect(made.pidfds.openCount).toBe(0);
  });

  it("signals it all the same where the library is absent", () => {
    const made = world("narrow", { library: "for-signals", mode: "refuse" });
    using handle = adoptIn(made);
    expect(handle.signal("SIGTERM")).toEqual({ kind: "sent", via: "unreaped-child" });
  });
});

/** An observer whose library is absent until it comes. */
function absent(passing: boolean): { readonly observer: ProcessObserver; readonly come: () => void } {
  const { table, clock, pidfds } = world("pidfd");
  const deps = { mode: "refuse", ports: table, clock, poller: createExitPoller(clock) } as const;
  let isThere = false;
  const findPidfds = (): FoundPidfds =>
    isThere ? { kind: "found", pidfds } : { kind: "absent", reason: "EMFILE", passing };
  const observer = createLinuxObserver(deps, { policy: "at-first-use", findPidfds });
  return { observer, come: () => void (isThere = true) };
}

describe("a library that is absent", () => {
  it("I155 only for want of a descriptor is asked for again with each question", () => {
    const { observer, come } = absent(true);
    expect(observer.capabilities()).toMatchObject({ backend: "linux-narrow", reason: "EMFILE" });
    expect(observer.self().pidfsInode).toBeNull();
    come();
    expect(observer.capabilities().backend).toBe("linux-pidfd");
    expect(observer.self().pidfsInode).not.toBeNull();
  });

  it("for good is asked for once", () => {
    const { observer, come } = absent(false);
    observer.self();
    come();
    expect(observer.capabilities().backend).toBe("linux-narrow");
  });
});

describe("the policy never", () => {
  it("uses no pidfds for anything, and says why", () => {
    const made = world("pidfd", { library: "never" });
    const { observer, recorded } = made;
    expect(observer.capabilities()).toMatchObject({ backend: "linux-narrow", reason: "the library is not wanted" });
    opened(observer.open(recorded))[Symbol.dispose]();
    expect(observer.peer(socketOf(PID))).toEqual({ kind: "unknown", why: "unsupported" });
    expect(observer.signal(recorded, "SIGCONT")).toEqual({ kind: "sent", via: "narrow-window" });
    expect(usesPidfds(made)).toBe(false);
  });
});
