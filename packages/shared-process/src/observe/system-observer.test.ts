import { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { damagedRecords } from "../damaged-records.testing.ts";
import { createLifeline, holdLifeline } from "../lifeline.ts";
import type { ExitInfo, OpenOptions, ProcessHandle } from "../types.ts";
import { MacosWorld, PID, record, variants, WindowsWorld, type World } from "./system-worlds.testing.ts";

const NO_SUCH_PID = { kind: "gone", why: "no-such-pid" };

function open(world: World, options?: OpenOptions): { handle: ProcessHandle; exits: ExitInfo[] } {
  const observer = world.observer();
  const result = observer.open(record(world, observer), options);
  if (result.kind !== "opened") throw new Error(result.kind);
  const exits: ExitInfo[] = [];
  result.handle.onExit((exit) => exits.push(exit));
  return { handle: result.handle, exits };
}

const childWith = (fields: Partial<ChildProcess>): ChildProcess => Object.assign(new ChildProcess(), fields);

describe.each(variants)("$name", ({ name, create }) => {
  it("says what it is and records every field that it can read", () => {
    const world = create();
    const observer = world.observer();
    expect(observer.capabilities()).toMatchObject({ backend: name, boundGroupSignals: false, exits: "polling" });
    const isMacos = world instanceof MacosWorld;
    expect(record(world, observer)).toEqual({
      machineId: world.machine,
      bootId: isMacos ? world.boot : "none",
      pid: PID,
      pidNamespace: "none",
      timeNamespace: "none",
      startTicks: name === "macos-narrow" ? "1700000020000000" : "1700000020123456",
      pidfsInode: name === "macos-library" ? "2" : null,
    });
    expect(observer.self().pid).toBe(world.pid);
  });

  it("identifies no zombie, no free number and nothing that is hidden", () => {
    const world = create();
    const observer = world.observer();
    world.start({ pid: 100, serial: 5, state: "Z" });
    world.start({ pid: 104, serial: 6, hidden: true });
    expect([100, 104, 108, -4].map((pid) => observer.identify(pid).kind)).toEqual([
      "gone",
      "unknown",
      "gone",
      "unknown",
    ]);
  });

  it("I16 is unknown for a record that was damaged, and opens and signals nothing", () => {
    const world = create();
    const observer = world.observer();
    const recorded = record(world, observer);
    for (const damaged of damagedRecords(recorded)) {
      const verdict = { kind: "unknown", why: "unparsable" };
      expect(observer.verdict(damaged)).toEqual(verdict);
      expect(observer.open(damaged)).toEqual(verdict);
      expect(observer.signal(damaged, "SIGKILL")).toEqual({ kind: "not-sent", verdict });
      expect(observer.signalGroup(damaged, "SIGKILL")).toEqual({ kind: "not-sent", verdict });
    }
    expect(observer.verdict(recorded)).toMatchObject({ kind: "current" });
  });

  it("throws identity_unreadable when it is hidden from itself", () => {
    const world = create();
    world.start({ pid: world.pid, serial: 1, hidden: true });
    expect(() => world.observer().self()).toThrow(expect.objectContaining({ code: "identity_unreadable" }));
  });

  it("opens only the recorded process", () => {
    const world = create();
    const observer = world.observer();
    const recorded = record(world, observer);
    world.start({ pid: PID, serial: 3 });
    expect(observer.open(recorded)).toEqual({ kind: "replaced", by: "process" });
    world.reap();
    expect(observer.open(recorded)).toEqual(NO_SUCH_PID);
    expect(observer.open({ ...recorded, machineId: "x" })).toEqual({ kind: "unknown", why: "other-host" });
  });

  it("a handle looks and signals afresh, and tells the end once", () => {
    const world = create();
    const { handle, exits } = open(world);
    expect(handle.verdict().kind).toBe("current");
    expect(handle.signal("SIGTERM").kind).toBe("sent");
    world.clock.advance(1_000);
    expect(exits).toEqual([]);
    world.reap();
    expect(handle.verdict()).toEqual(NO_SUCH_PID);
    expect(handle.signal("SIGKILL")).toEqual({ kind: "not-sent", verdict: NO_SUCH_PID });
    world.clock.advance(1_000);
    expect(exits).toEqual([{ at: expect.any(Number), status: name === "windows-library" ? { code: 7 } : null }]);
    expect(world.clock.pendingTimers).toBe(0);
    handle[Symbol.dispose]();
    handle[Symbol.dispose]();
    expect(world instanceof WindowsWorld ? world.held : 0).toBe(0);
  });

  it("a disposed handle watches nothing", () => {
    const world = create();
    const { handle, exits } = open(world);
    handle[Symbol.dispose]();
    world.reap();
    world.clock.advance(1_000);
    expect(exits).toEqual([]);
    expect(world.clock.pendingTimers).toBe(0);
  });

  it("tells the end of a process whose number is another's by now, in the end", () => {
    const world = create();
    const { exits } = open(world);
    world.clock.advance(100);
    world.start({ pid: PID, serial: 3 });
    world.clock.advance(120_000);
    expect(exits).toHaveLength(1);
  });

  it("adopts a child whose exit is told by Node, and never follows its number after that", async () => {
    const world = create();
    const child = childWith({ pid: PID });
    const adopted = world.observer().adopt(child);
    if (adopted.kind !== "opened") throw new Error(adopted.kind);
    const { handle } = adopted;
    expect(handle.verdict().kind).toBe("current");
    Object.assign(child, { exitCode: 3 });
    child.emit("exit", 3, null);
    expect(await handle.exited).toEqual({ at: expect.any(Number), status: { code: 3 } });
    expect(handle.verdict()).toEqual(NO_SUCH_PID);
    for (const outcome of [handle.signal("SIGKILL"), handle.signalGroup("SIGKILL")]) {
      expect(outcome).toEqual({ kind: "not-sent", verdict: NO_SUCH_PID });
    }
    expect(world.delivered).toEqual([]);
    expect(world.clock.pendingTimers).toBe(0);
    handle[Symbol.dispose]();
  });

  it("adopts no child that was never started or was told to have ended", () => {
    const observer = create().observer();
    expect(observer.adopt(childWith({}))).toEqual(NO_SUCH_PID);
    expect(observer.adopt(childWith({ pid: PID, signalCode: "SIGKILL" }))).toEqual(NO_SUCH_PID);
    expect(observer.adopt(childWith({ pid: 4 }))).toEqual(NO_SUCH_PID);
  });

  it("I131 adopts no stranger that has the number of a child whose end is not told yet", () => {
    const world = create();
    world.change({ parent: 1 });
    const adopted = world.observer().adopt(childWith({ pid: PID }));
    // On Windows the number stays the child's until its end is told.
    expect(adopted.kind).toBe(name.startsWith("macos") ? "gone" : "opened");
    if (adopted.kind === "opened") adopted.handle[Symbol.dispose]();
  });

  it("adopts a child that has ended and is not reaped, where the system still shows it", () => {
    const world = create();
    world.change({ state: "Z" });
    const adopted = world.observer().adopt(childWith({ pid: PID }));
    expect(adopted.kind === "opened" ? adopted.handle.verdict() : adopted).toEqual(
      name === "windows-narrow" ? NO_SUCH_PID : { kind: "gone", why: "defunct" },
    );
    expect(adopted.kind).toBe(name === "windows-narrow" ? "gone" : "opened");
  });

  it("knows no peer of a socket", () => {
    expect(create().observer().peer(new Socket())).toEqual({ kind: "unknown", why: "unsupported" });
  });
});

describe("watching", () => {
  it("runs a program about once a second, however many processes are watched", () => {
    const world = new MacosWorld(false);
    const observer = world.observer();
    const handles = Array.from({ length: 10 }, (_, index) => {
      const pid = 1_000 + index;
      world.start({ pid, serial: pid });
      const seen = observer.identify(pid);
      const result = seen.kind === "identified" ? observer.open(seen.identity) : seen;
      if (result.kind !== "opened") throw new Error(result.kind);
      result.handle.onExit(() => {});
      return result.handle;
    });
    const looksIn30s = (): number => {
      world.clock.advance(30_000);
      world.calls.length = 0;
      world.clock.advance(30_000);
      return world.calls.filter((call) => call.startsWith("/bin/ps")).length;
    };
    expect(looksIn30s()).toBe(30);
    for (const handle of handles.slice(1)) handle[Symbol.dispose]();
    expect(looksIn30s()).toBe(30);
  });

  it("takes the release of a lifeline for the end", async () => {
    const folder = mkdtempSync(join(tmpdir(), "lifeline-"));
    const lifelinePath = join(folder, "fifo");
    try {
      await createLifeline(lifelinePath);
      const lifeline = holdLifeline(lifelinePath);
      const world = new MacosWorld(false);
      const { exits } = open(world, { lifelinePath });
      world.clock.advance(200);
      expect(exits).toEqual([]);
      lifeline[Symbol.dispose]();
      world.clock.advance(200);
      expect(exits).toHaveLength(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("gives a record what it lacked once the library is there", () => {
    const recorded = record(new MacosWorld(false));
    const opened = new MacosWorld(true).observer().open(recorded);
    expect(opened.kind === "opened" ? opened.handle.identity : opened).toEqual({ ...recorded, pidfsInode: "2" });
  });
});
