import { describe, expect, it } from "vitest";
import { childWith, opened, PID, socketOf, world, type World } from "./world.testing.ts";

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
