import { describe, expect, it } from "vitest";
import { startIdOf } from "../src/index.ts";
import { backends, baseEnv, eventually, firstLine, fixture, observer, start } from "./harness.ts";

describe("this machine", () => {
  it("has everything that the strongest back-end needs, or says what is missing", () => {
    expect(observer.capabilities()).toEqual({
      backend: "linux-pidfd",
      reason: null,
      kernelIds: true,
      boundSignals: true,
      boundGroupSignals: true,
      exits: "events",
      exitStatus: true,
      peers: true,
    });
  });
});

describe.each(backends)("an observer by $name", ({ observer: own, library, basis, via }) => {
  it("identifies, watches over and ends a program", async () => {
    const sleeper = await start("sleep", ["100"]);
    const seen = own.identify(sleeper.identity.pid);
    if (seen.kind !== "identified") throw new Error(seen.why);
    expect(own.verdict(seen.identity)).toEqual({ kind: "current", basis });
    expect(own.signal(seen.identity, "SIGTERM")).toEqual({ kind: "sent", via });
    expect((await sleeper.exited).status).toEqual({ signal: "SIGTERM" });
    expect(own.verdict(seen.identity)).toEqual({ kind: "gone", why: "no-such-pid" });
  });

  it("is not misled by a process that calls itself `) Z 0 (`", async () => {
    const hostile = await start("sh", ["-c", 'printf ") Z 0 (" > /proc/self/comm; echo ready; read line']);
    expect(await firstLine(hostile)).toBe("ready");
    expect(own.verdict(hostile.identity)).toEqual({ kind: "current", basis });
  });

  it("I158 gives the same identity under another time zone and locale", async () => {
    const sleeper = await start("sleep", ["100"]);
    const env = { ...baseEnv, TZ: "Asia/Tokyo", LC_ALL: "ja_JP.UTF-8" };
    const args = [fixture("start-id.mjs"), library, JSON.stringify(sleeper.identity)];
    const other = await start(process.execPath, args, env);
    const { identity, startId, verdict } = JSON.parse(await firstLine(other));
    const pidfsInode = library === "never" ? null : sleeper.identity.pidfsInode;
    expect(identity).toEqual({ ...sleeper.identity, pidfsInode });
    expect(startId).toBe(startIdOf(sleeper.identity));
    expect(verdict).toEqual({ kind: "current", basis });
  });

  it("signals the whole group of a leader, with the leader or after it", async () => {
    const leader = await start("sh", ["-c", "sleep 100 & echo $!; exec sleep 100"]);
    const member = own.identify(Number(await firstLine(leader)));
    if (member.kind !== "identified") throw new Error(member.why);
    const opened = own.open(leader.identity);
    if (opened.kind !== "opened") throw new Error(opened.kind);
    using handle = opened.handle;
    expect(own.signalGroup(member.identity, "SIGKILL")).toEqual({ kind: "denied", errno: "ESRCH" });
    expect(handle.signal("SIGKILL")).toEqual({ kind: "sent", via });
    await leader.exited;
    // I96: without the library the number of a leader that is reaped may be another group's.
    const gone = { kind: "not-sent", verdict: { kind: "gone", why: "no-such-pid" } };
    const outcome = handle.signalGroup("SIGKILL");
    expect(outcome).toEqual(library === "never" ? gone : { kind: "sent", via: "pidfd" });
    if (library === "never") own.signal(member.identity, "SIGKILL");
    await eventually(() => own.verdict(member.identity).kind === "gone", "the member has ended");
  });
});
