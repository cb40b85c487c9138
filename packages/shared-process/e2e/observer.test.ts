import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseStat, startIdOf } from "../src/index.ts";
import { baseEnv, eventually, firstLine, fixture, observer, start, temporaryDirectory } from "./harness.ts";

const stateAt = (path: string): string | null => {
  const parsed = parseStat(readFileSync(path, "latin1"));
  return parsed.kind === "parsed" ? parsed.stat.state : null;
};

describe("verdicts of real processes", () => {
  it("is current while it runs and gone once it is reaped", async () => {
    const sleeper = await start("sleep", ["100"]);
    expect(observer.verdict(sleeper.identity)).toEqual({ kind: "current", basis: "start-time" });
    expect(observer.signal(sleeper.identity, "SIGTERM")).toEqual({ kind: "sent", via: "narrow-window" });
    expect((await sleeper.exited).status).toEqual({ signal: "SIGTERM" });
    expect(observer.verdict(sleeper.identity)).toEqual({ kind: "gone", why: "no-such-pid" });
  });

  it("I3 I133 is gone as a zombie whose parent never reaps it, although kill(0) succeeds", async () => {
    const parent = await start("sh", ["-c", "sleep 1.5 & echo $!; exec sleep 100"]);
    const pid = Number(await firstLine(parent));
    const seen = observer.identify(pid);
    if (seen.kind !== "identified") throw new Error("the child ended too early");
    await eventually(() => observer.verdict(seen.identity).kind === "gone", "the child has ended");
    expect(observer.verdict(seen.identity)).toEqual({ kind: "gone", why: "defunct" });
    expect(process.kill(pid, 0)).toBe(true);
    expect(observer.identify(pid)).toEqual({ kind: "gone", why: "defunct" });
    expect(observer.signal(seen.identity, "SIGKILL").kind).toBe("not-sent");
  });

  it("is current while stopped, and SIGKILL still ends it", async () => {
    const sleeper = await start("sleep", ["100"]);
    observer.signal(sleeper.identity, "SIGSTOP");
    const path = `/proc/${sleeper.identity.pid}/stat`;
    // Before it stands still a SIGTERM would simply end it.
    await eventually(() => stateAt(path) === "T", "it stands still");
    observer.signal(sleeper.identity, "SIGTERM");
    expect(observer.verdict(sleeper.identity).kind).toBe("current");
    expect(observer.signal(sleeper.identity, "SIGKILL").kind).toBe("sent");
    expect((await sleeper.exited).status).toEqual({ signal: "SIGKILL" });
  });

  it("is not misled by a process that calls itself `) Z 0 (`", async () => {
    const hostile = await start("sh", ["-c", 'printf ") Z 0 (" > /proc/self/comm; echo ready; read line']);
    expect(await firstLine(hostile)).toBe("ready");
    expect(observer.verdict(hostile.identity)).toEqual({ kind: "current", basis: "start-time" });
  });

  it("says replaced by a thread for a thread's number, and does not hit the thread's process", () => {
    const self = observer.self();
    const thread =
      readdirSync("/proc/self/task")
        .map(Number)
        .find((id) => id !== process.pid) ?? 0;
    expect(thread).toBeGreaterThan(1);
    expect(process.kill(thread, 0)).toBe(true);
    const verdict = { kind: "replaced", by: "thread" };
    expect(observer.verdict({ ...self, pid: thread })).toEqual(verdict);
    expect(observer.signal({ ...self, pid: thread }, "SIGTERM")).toEqual({ kind: "not-sent", verdict });
    expect(observer.identify(thread)).toEqual({ kind: "gone", why: "no-such-pid" });
  });

  it("I158 gives the same identity under another time zone and locale", async () => {
    const sleeper = await start("sleep", ["100"]);
    const env = { ...baseEnv, TZ: "Asia/Tokyo", LC_ALL: "ja_JP.UTF-8" };
    const other = await start(process.execPath, [fixture("start-id.mjs"), JSON.stringify(sleeper.identity)], env);
    expect(JSON.parse(await firstLine(other))).toEqual({
      startId: startIdOf(sleeper.identity),
      verdict: { kind: "current", basis: "start-time" },
    });
  });

  it("is unknown, never gone, from another pid namespace and from another time namespace", async () => {
    const sleeper = await start("sleep", ["100"]);
    const args = [process.execPath, fixture("start-id.mjs"), JSON.stringify(sleeper.identity)];
    const inside = (flags: string[]): unknown =>
      JSON.parse(spawnSync("unshare", [...flags, ...args], { env: baseEnv, encoding: "utf8" }).stdout);
    expect(inside(["--pid", "--fork", "--mount-proc"])).toMatchObject({
      verdict: { kind: "unknown", why: "other-pid-namespace" },
    });
    expect(inside(["--time", "--boottime", "1000", "--fork"])).toMatchObject({
      verdict: { kind: "unknown", why: "other-time-namespace" },
    });
  });

  it("I9 I131 hits no canary that got the number of an ended process, by any way there is", () => {
    const log = join(temporaryDirectory(), "signals");
    // sh is process 1 there, because node as process 1 would not reap what others leave.
    const script = `"${process.execPath}" "${fixture("recycle.mjs")}" "${log}"; exit $?`;
    const args = ["--pid", "--fork", "--mount-proc", "sh", "-c", script];
    const run = spawnSync("unshare", args, { env: baseEnv, encoding: "utf8", timeout: 15_000 });
    expect(run.stderr).toBe("");
    const replaced = { kind: "replaced", by: "process" };
    expect(JSON.parse(run.stdout)).toEqual({
      verdict: replaced,
      signal: { kind: "not-sent", verdict: replaced },
      marked: { kind: "not-sent", verdict: replaced },
      handle: { kind: "not-sent", verdict: { kind: "gone", why: "no-such-pid" } },
      group: { kind: "not-sent", verdict: { kind: "gone", why: "no-such-pid" } },
      tree: { ended: 0, kept: [], remaining: [], scan: "complete" },
      log: "ready\nCONT\n",
    });
  });
});
