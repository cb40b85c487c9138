import { describe, expect, it } from "vitest";
import type { ExitInfo, ProcessHandle } from "../types.ts";
import { BACKENDS, childWith, open, opened, openDescriptors, PID, world, type World } from "./world.testing.ts";

const POLL_MS = 100;
const STATUS_WAIT_MS = 50;

/** Lets callbacks of later microtasks run. */
const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

function watch(handle: ProcessHandle): ExitInfo[] {
  const told: ExitInfo[] = [];
  handle.onExit((exit) => told.push(exit));
  return told;
}

const isIdle = ({ clock, pidfds }: World): boolean => clock.pendingTimers === 0 && pidfds.watchCount === 0;

describe.each(BACKENDS)("a handle by %s", (backend) => {
  it("costs one descriptor and nothing else until somebody asks for the end", () => {
    const made = world(backend);
    const handle = open(made);
    expect(openDescriptors(made)).toBe(1);
    expect(isIdle(made)).toBe(true);
    watch(handle);
    expect(isIdle(made)).toBe(false);
    handle[Symbol.dispose]();
    expect(openDescriptors(made)).toBe(0);
    expect(isIdle(made)).toBe(true);
  });

  it("is not asked after disposal, may be disposed of twice, and tells no end then", async () => {
    const made = world(backend);
    const handle = open(made);
    const told = watch(handle);
    handle[Symbol.dispose]();
    handle[Symbol.dispose]();
    const broken = expect.objectContaining({ code: "invariant_broken" });
    expect(() => handle.verdict()).toThrow(broken);
    expect(() => handle.signal("SIGTERM")).toThrow(broken);
    expect(() => handle.signalGroup("SIGTERM")).toThrow(broken);
    made.table.end(PID);
    made.table.reap(PID);
    made.clock.advance(10 * POLL_MS);
    await nextTurn();
    expect(told).toEqual([]);
    expect(made.table.delivered).toEqual([]);
  });

  it("that was disposed of before anybody asked watches nothing when somebody does", async () => {
    const made = world(backend);
    const handle = open(made);
    handle[Symbol.dispose]();
    const told = watch(handle);
    void handle.exited;
    made.table.reap(PID);
    made.clock.advance(10 * POLL_MS);
    await nextTurn();
    expect(told).toEqual([]);
    expect(isIdle(made)).toBe(true);
  });

  it("tells an end to each who asks, once, and those who ask late as well", async () => {
    const made = world(backend);
    using handle = open(made);
    const [first, second] = [watch(handle), watch(handle)];
    made.table.reap(PID);
    await nextTurn();
    made.clock.advance(POLL_MS);
    await nextTurn();
    const third = watch(handle);
    await nextTurn();
    expect([first.length, second.length, third.length]).toEqual([1, 1, 1]);
    expect(await handle.exited).toEqual(first[0]);
    expect(isIdle(made)).toBe(true);
  });

  it("of a process that ended before the question tells its end all the same", async () => {
    const made = world(backend);
    using handle = open(made);
    made.table.end(PID);
    made.table.reap(PID);
    const told = watch(handle);
    await nextTurn();
    made.clock.advance(POLL_MS);
    expect(told).toHaveLength(1);
  });

  it("can be closed by the one who is told", async () => {
    const made = world(backend);
    const handle = open(made);
    handle.onExit(() => handle[Symbol.dispose]());
    made.table.reap(PID);
    await nextTurn();
    made.clock.advance(POLL_MS);
    await nextTurn();
    expect(openDescriptors(made)).toBe(0);
    expect(isIdle(made)).toBe(true);
  });

  it("of an own child is told by Node, with its status, and watches nothing else", async () => {
    const made = world(backend);
    const child = childWith({ pid: PID });
    using handle = opened(made.observer.adopt(child));
    const told = watch(handle);
    expect(isIdle(made)).toBe(true);
    made.table.reap(PID);
    child.emit("exit", null, "SIGTERM");
    await nextTurn();
    expect(told).toEqual([{ at: made.clock.now(), status: { signal: "SIGTERM" } }]);
    expect(handle.verdict()).toEqual({ kind: "gone", why: "no-such-pid" });
  });

  it("of an own child that had ended when it was let go says so, and signals nobody", () => {
    const made = world(backend);
    const handle = opened(made.observer.adopt(childWith({ pid: PID })));
    made.table.reap(PID);
    handle[Symbol.dispose]();
    made.table.start({ pid: PID });
    const verdict = { kind: "gone", why: "no-such-pid" };
    expect(handle.verdict()).toEqual(verdict);
    expect(handle.signal("SIGKILL")).toEqual({ kind: "not-sent", verdict });
    expect(handle.signalGroup("SIGKILL")).toEqual({ kind: "not-sent", verdict });
    expect(made.table.delivered).toEqual([]);
    expect(openDescriptors(made)).toBe(0);
  });

  it("of an own child signals it in refuse mode as well, since nobody else reaps it", () => {
    const made = world(backend, { mode: "refuse", process: { ignores: ["SIGHUP"] } });
    using handle = opened(made.observer.adopt(childWith({ pid: PID })));
    expect(handle.signal("SIGHUP")).toEqual({ kind: "sent", via: backend === "narrow" ? "unreaped-child" : "pidfd" });
    const group = { kind: "sent", via: backend === "pidfd" ? "pidfd" : "unreaped-child" };
    expect(handle.signalGroup("SIGHUP")).toEqual(group);
    made.table.start({ pid: PID });
    expect(handle.signal("SIGHUP").kind).toBe("not-sent");
    expect(handle.signalGroup("SIGHUP").kind).toBe("not-sent");
    expect(made.table.delivered).toHaveLength(2);
  });

  it("of an own child that has ended already is given until Node reaps it, and none after", () => {
    const made = world(backend);
    made.table.end(PID);
    const child = childWith({ pid: PID });
    const handle = opened(made.observer.adopt(child));
    expect(handle.identity).toEqual(made.recorded);
    expect(handle.verdict()).toEqual({ kind: "gone", why: "defunct" });
    expect(handle.signal("SIGTERM").kind).toBe("not-sent");
    handle[Symbol.dispose]();
    expect(child.listenerCount("exit")).toBe(0);
    const gone = { kind: "gone", why: "no-such-pid" };
    expect(made.observer.adopt(childWith({ pid: PID, exitCode: 0 }))).toEqual(gone);
    expect(made.observer.adopt(childWith({ pid: PID, signalCode: "SIGTERM" }))).toEqual(gone);
    expect(made.observer.adopt(childWith({}))).toEqual(gone);
    expect(openDescriptors(made)).toBe(0);
  });
});

describe("the end of a process that is no child, by pidfd", () => {
  it("is told as an event with its status, once it is reaped", async () => {
    const made = world("pidfd");
    made.pidfds.statuses.set(PID, { code: 7 });
    using handle = open(made);
    const told = watch(handle);
    made.table.end(PID);
    const endedAt = made.clock.now();
    await nextTurn();
    expect(told).toEqual([]);
    made.clock.advance(1);
    made.table.reap(PID);
    await nextTurn();
    expect(told).toEqual([{ at: endedAt, status: { code: 7 } }]);
    expect(isIdle(made)).toBe(true);
  });

  it("is told with the status that the zombie shows, whether or not anybody reaps it", async () => {
    const made = world("pidfd", { process: { exitStatus: 9 } });
    using handle = open(made);
    const told = watch(handle);
    made.table.end(PID);
    await nextTurn();
    expect(told).toEqual([{ at: made.clock.now(), status: { signal: "SIGKILL" } }]);
    expect(isIdle(made)).toBe(true);
  });

  it("is not told with the status of a zombie that got the number in the very moment", async () => {
    const made = world("pidfd", { process: { exitStatus: 9 } });
    made.pidfds.statuses.set(PID, { code: 7 });
    using handle = open(made);
    const told = watch(handle);
    made.table.end(PID);
    made.table.beforeCall = (call) => {
      if (call.endsWith("/stat")) made.table.start({ pid: PID, state: "Z", exitStatus: 11 });
    };
    await nextTurn();
    expect(told).toMatchObject([{ status: { code: 7 } }]);
  });

  it("is told without a status when nobody reaps it and the kernel hides it", async () => {
    const made = world("pidfd");
    made.pidfds.statuses.set(PID, { code: 7 });
    using handle = open(made);
    const told = watch(handle);
    made.table.end(PID);
    const endedAt = made.clock.now();
    await nextTurn();
    made.clock.advance(STATUS_WAIT_MS - 1);
    expect(told).toEqual([]);
    made.clock.advance(1);
    expect(told).toEqual([{ at: endedAt, status: null }]);
    made.table.reap(PID);
    await nextTurn();
    expect(told).toHaveLength(1);
    expect(isIdle(made)).toBe(true);
  });

  it("is told at once where the kernel keeps no status", async () => {
    const made = world("pidfd", { features: { exitStatus: false } });
    made.pidfds.statuses.set(PID, { code: 7 });
    using handle = open(made);
    const told = watch(handle);
    made.table.end(PID);
    await nextTurn();
    expect(told).toEqual([{ at: made.clock.now(), status: null }]);
  });

  it("I155 is found by looking where no descriptor is left for events, with its status", async () => {
    const made = world("pidfd");
    made.pidfds.statuses.set(PID, { signal: "SIGKILL" });
    made.pidfds.watchFails = "EMFILE";
    using handle = open(made);
    const told = watch(handle);
    made.clock.advance(POLL_MS);
    made.table.reap(PID);
    await nextTurn();
    expect(told).toEqual([]);
    made.clock.advance(POLL_MS);
    expect(told).toEqual([{ at: made.clock.now(), status: { signal: "SIGKILL" } }]);
    expect(isIdle(made)).toBe(true);
  });

  it("is told after the wait for a status when the wait itself cannot be watched", async () => {
    const made = world("pidfd");
    made.pidfds.statuses.set(PID, { code: 7 });
    using handle = open(made);
    const told = watch(handle);
    made.pidfds.watchFails = "ENOSPC";
    made.table.end(PID);
    await nextTurn();
    made.table.reap(PID);
    made.clock.advance(STATUS_WAIT_MS);
    expect(told).toMatchObject([{ status: { code: 7 } }]);
    expect(isIdle(made)).toBe(true);
  });
});

describe("the end of a process that is no child, without the library", () => {
  it("is found by looking, when it is a zombie or gone, and not while it cannot be seen", () => {
    const made = world("narrow");
    using handle = open(made);
    const told = watch(handle);
    made.table.change(PID, { unreadable: { again: "EIO" } });
    made.clock.advance(POLL_MS);
    made.table.change(PID, { unreadable: {}, state: "Z", threads: 2 });
    made.clock.advance(POLL_MS);
    expect(told).toEqual([]);
    made.table.end(PID);
    made.clock.advance(POLL_MS);
    expect(told).toEqual([{ at: made.clock.now(), status: null }]);
    expect(made.clock.pendingTimers).toBe(0);
  });

  it("is not missed when the number is another's at once", () => {
    const made = world("narrow");
    using handle = open(made);
    const told = watch(handle);
    made.table.start({ pid: PID });
    made.clock.advance(POLL_MS);
    expect(told).toHaveLength(1);
  });
});
