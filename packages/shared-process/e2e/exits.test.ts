import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createLifeline,
  createObserver,
  type ExitInfo,
  holdLifeline,
  type OpenOptions,
  type ProcessHandle,
  type ProcessIdentity,
  type ProcessObserver,
  watchLifeline,
} from "../src/index.ts";
import { FakeClock } from "../src/testing/index.ts";
import { atEnd, backends, eventually, fixture, linesOf, observer, start, temporaryDirectory } from "./harness.ts";

function hold(own: ProcessObserver, identity: ProcessIdentity, options?: OpenOptions): ProcessHandle {
  const opened = own.open(identity, options);
  if (opened.kind !== "opened") throw new Error(opened.kind);
  atEnd(() => opened.handle[Symbol.dispose]());
  return opened.handle;
}

function watch(handle: ProcessHandle): ExitInfo[] {
  const told: ExitInfo[] = [];
  handle.onExit((exit) => told.push(exit));
  return told;
}

interface Siblings {
  readonly handles: readonly ProcessHandle[];
  /** Lets those that are left end by themselves. */
  readonly release: () => void;
}

/** Children of another process, each held. */
async function siblings(own: ProcessObserver, count: number): Promise<Siblings> {
  const fifo = join(temporaryDirectory(), "fifo");
  await createLifeline(fifo);
  const gate = holdLifeline(fifo);
  atEnd(() => gate[Symbol.dispose]());
  const handles: ProcessHandle[] = [];
  let ready = 0;
  for await (const line of linesOf(await start("sh", [fixture("siblings.sh"), String(count), fifo]))) {
    if (line === "ready") ready += 1;
    else {
      const seen = own.identify(Number(line));
      if (seen.kind !== "identified") throw new Error(seen.why);
      handles.push(hold(own, seen.identity));
    }
    if (ready === count && handles.length === count) break;
  }
  return { handles, release: () => gate[Symbol.dispose]() };
}

describe("the ends of processes that are not own children", () => {
  it("are told as events by pidfd, 300 of them, each once and with its real status", async () => {
    const { handles, release } = await siblings(observer, 300);
    const told = handles.map(watch);
    for (const [place, handle] of handles.entries()) {
      if (place % 3 === 0) handle.signal("SIGTERM");
      if (place % 3 === 1) handle.signal("SIGKILL");
    }
    const ends = (): number => told.filter((exits) => exits.length > 0).length;
    await eventually(() => ends() === 200, "200 ends are told", 20_000);
    release();
    await eventually(() => ends() === 300, "all ends are told", 20_000);
    const signals = [{ signal: "SIGTERM" }, { signal: "SIGKILL" }];
    const expected = handles.map((_handle, place) => [signals[place % 3] ?? { code: place % 5 }]);
    expect(told.map((exits) => exits.map(({ status }) => status))).toEqual(expected);
    expect(new Set(handles.map((handle) => handle.verdict().kind))).toEqual(new Set(["gone"]));
  });

  it("are found by looking without the library, each once and without a status", async () => {
    const own = backends[1].observer;
    const { handles, release } = await siblings(own, 30);
    const told = handles.map(watch);
    for (const handle of handles.slice(0, 10)) handle.signal("SIGKILL");
    const ends = (): number => told.filter((exits) => exits.length > 0).length;
    await eventually(() => ends() === 10, "10 ends are told", 20_000);
    release();
    await eventually(() => ends() === 30, "all ends are told", 20_000);
    expect(told.map((exits) => exits.map(({ status }) => status))).toEqual(handles.map(() => [null]));
  });

  it("are events without the library as well where a lifeline tells them", async () => {
    const clock = new FakeClock();
    const own = createObserver({ mode: "narrow", library: "never", clock });
    const lifelinePath = join(temporaryDirectory(), "lifeline");
    await createLifeline(lifelinePath);
    const holder = await start("sh", ["-c", 'exec 3<>"$0"; echo ready; read -r _', lifelinePath]);
    await linesOf(holder).next();
    const told = watch(hold(own, holder.identity, { lifelinePath }));
    // Nothing is looked at while it is held.
    expect(clock.pendingTimers).toBe(0);
    await holder.signal("SIGKILL");
    const isTold = (): boolean => {
      // A process lets go of its descriptors just before it ends, and may be seen in between.
      clock.advance(100);
      return told.length > 0;
    };
    await eventually(isTold, "the end is told");
    expect(told).toMatchObject([{ status: null }]);
  });

  it("are not told of a process that lives when its FIFO was replaced by one that nobody holds", async () => {
    const own = createObserver({ mode: "narrow", library: "never" });
    const lifelinePath = join(temporaryDirectory(), "lifeline");
    await createLifeline(lifelinePath);
    const sleeper = await start("sleep", ["100"]);
    const told = watch(hold(own, sleeper.identity, { lifelinePath }));
    await new Promise<void>((resolve) => void watchLifeline(lifelinePath, resolve));
    expect(told).toEqual([]);
    await sleeper.signal("SIGKILL");
    await eventually(() => told.length > 0, "the end is told");
  });

  it.each(["at-first-use", "never"])("are told to all, whatever one callback throws (library: %s)", async (library) => {
    const sleepers = [await start("sleep", ["100"]), await start("sleep", ["100"])];
    const spec = JSON.stringify({ library, records: sleepers.map(({ identity }) => identity) });
    const lines = linesOf(await start(process.execPath, [fixture("throwing.mjs"), spec]));
    expect((await lines.next()).value).toBe("watching");
    await Promise.all(sleepers.map((sleeper) => sleeper.signal("SIGKILL")));
    const said = [await lines.next(), await lines.next(), await lines.next(), await lines.next()];
    expect(said.map(({ value }) => String(value)).toSorted()).toEqual([
      "told",
      "told",
      "uncaught: thrown",
      "uncaught: thrown",
    ]);
  });
});

describe.each(backends)("by $name", ({ observer: own, library }) => {
  it("an adopted child's end is told with its status, also when it had ended before", async () => {
    for (const [script, status] of [
      ["exit 3", { code: 3 }],
      ["kill -KILL $$", { signal: "SIGKILL" }],
    ] as const) {
      const child = spawn("sh", ["-c", script], { stdio: "ignore" });
      const adopted = own.adopt(child);
      if (adopted.kind !== "opened") throw new Error(adopted.kind);
      const { handle } = adopted;
      // In this turn Node does not reap it.
      while (handle.verdict().kind === "current");
      expect(handle.verdict()).toEqual({ kind: "gone", why: "defunct" });
      expect(handle.signal("SIGTERM").kind).toBe("not-sent");
      expect((await handle.exited).status).toEqual(status);
      expect(handle.verdict()).toEqual({ kind: "gone", why: "no-such-pid" });
      handle[Symbol.dispose]();
    }
  });

  it("neither a handle nor a watch, of a lifeline either, keeps a process alive", async () => {
    const lifelinePath = join(temporaryDirectory(), "lifeline");
    await createLifeline(lifelinePath);
    const lifeline = holdLifeline(lifelinePath);
    atEnd(() => lifeline[Symbol.dispose]());
    const sleeper = await start("sleep", ["100"]);
    for (const path of [null, lifelinePath]) {
      const spec = JSON.stringify({ library, record: sleeper.identity, lifelinePath: path });
      const watching = await start(process.execPath, [fixture("watching.mjs"), spec]);
      expect(await linesOf(watching).next()).toEqual({ done: false, value: "0 current" });
      expect((await watching.exited).status).toEqual({ code: 0 });
    }
  });
});
