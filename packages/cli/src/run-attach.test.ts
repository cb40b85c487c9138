import type { EventBody } from "@holdfast/client/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeIo } from "../test/fake-io.ts";
import { ScriptedDaemon } from "../test/scripted-daemon.ts";
import { until } from "../test/until.ts";
import { run } from "./run.ts";

const CTRL_C = 0x03;
const CTRL_BACKSLASH = 0x1c;

let daemon: ScriptedDaemon;
beforeEach(() => {
  daemon = new ScriptedDaemon();
});
afterEach(() => daemon.remove());

const started: EventBody = { type: "turn_started", turnId: "t", actionId: "a" };

async function attachable(activity: "idle" | "working", onAttached: () => void): Promise<void> {
  await daemon.serve(({ method, peer }) => {
    if (method === "session/attach")
      setImmediate(() => {
        daemon.send(peer, started);
        onAttached();
      });
    return { sessionId: "s", name: "s", agent: "shell", cwd: "/work", state: "ready", created: true, activity };
  });
}
const cancels = (): number => daemon.asked.filter(({ method }) => method === "session/cancel").length;
const attach = (io: FakeIo): Promise<number> => run(["attach", "s"], io.at(daemon.home));

describe("attach on a terminal", () => {
  it("reads keys one by one, and Ctrl-\\ leaves with 0 and the terminal as it was", async () => {
    const io = new FakeIo({ terminal: true });
    let raw = false;
    await attachable("working", () => {
      raw = io.raw;
      io.press(CTRL_BACKSLASH);
    });
    expect(await attach(io)).toBe(0);
    expect([raw, io.raw]).toEqual([true, false]);
    expect(io.stderr.text).toContain("left: the session goes on");
    expect(cancels()).toBe(0);
  });

  it("Ctrl-C asks, y cancels the turn, and watching goes on", async () => {
    const io = new FakeIo({ terminal: true });
    await attachable("working", () => io.press(CTRL_C));
    const watching = attach(io);
    await until(() => io.stderr.text.includes("cancel the running turn? [y/N]"));
    expect(cancels()).toBe(0);
    io.press("y".charCodeAt(0));
    await until(() => cancels() === 1);
    io.press(CTRL_BACKSLASH);
    expect(await watching).toBe(0);
  });

  it("any other answer lets the turn go on", async () => {
    const io = new FakeIo({ terminal: true });
    await attachable("working", () => io.press(CTRL_C));
    const watching = attach(io);
    await until(() => io.stderr.text.includes("[y/N]"));
    io.press("n".charCodeAt(0), "y".charCodeAt(0));
    await until(() => io.stderr.text.includes("the turn goes on"));
    io.press(CTRL_BACKSLASH);
    expect(await watching).toBe(0);
    expect(cancels()).toBe(0);
  });

  it("Ctrl-C without a turn asks nothing and says how to leave", async () => {
    const io = new FakeIo({ terminal: true });
    await attachable("idle", () => io.press(CTRL_C));
    const watching = attach(io);
    await until(() => io.stderr.text.includes("no turn runs; Ctrl-\\ leaves"));
    expect(io.stderr.text).not.toContain("[y/N]");
    io.press(CTRL_BACKSLASH);
    expect(await watching).toBe(0);
  });

  it("a SIGTERM puts the terminal back before it ends the command", async () => {
    const io = new FakeIo({ terminal: true });
    await attachable("idle", () => io.raise("SIGTERM"));
    expect(await attach(io)).toBe(143);
    expect(io.raw).toBe(false);
  });
});

describe("without a terminal", () => {
  it("attach reads no keys, and Ctrl-C leaves with 130", async () => {
    const io = new FakeIo();
    let raw = false;
    await attachable("working", () => {
      raw = io.raw;
      io.raise("SIGINT");
    });
    expect(await attach(io)).toBe(130);
    expect([raw, cancels()]).toEqual([false, 0]);
  });

  it("new --attach prints the session's line first, then what happens", async () => {
    const io = new FakeIo();
    await attachable("idle", () => io.raise("SIGINT"));
    expect(await run(["new", "--name", "s", "--attach"], io.at(daemon.home))).toBe(130);
    expect(io.stdout.text).toBe("session s (s) is ready: shell in /work\n");
  });
});
