import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Cgroup, makeCgroup, openCgroup, spawnGated, systemClock, systemIds } from "../src/index.ts";
import { atEnd, baseEnv, eventually, fixture, start, temporaryDirectory } from "./harness.ts";

const newName = (): string => `holdfast-test-${systemIds.newGeneration()}`;

/** These tests need a place where cgroups can be made, as they need root. */
function made(name: string): Cgroup {
  const result = makeCgroup(name);
  if (result.kind !== "made") throw new Error(`no cgroup: ${result.reason}`);
  const { cgroup } = result;
  atEnd(async () => {
    cgroup.kill();
    await cgroup.whenEmpty({ clock: systemClock, withinMs: 2_000 });
    expect(cgroup.remove()).toEqual({ kind: "removed" });
  });
  return cgroup;
}

const pidsIn = (cgroup: Cgroup): readonly number[] => {
  const members = cgroup.members();
  return members.kind === "listed" ? members.pids : [];
};

describe("a cgroup", () => {
  it("holds whatever its members fork, kills all of them in one step, and tells when it is empty", async () => {
    const cgroup = made(newName());
    const script = "read _; trap '' TERM; setsid sleep 100 & (env -i setsid sleep 100 &); sleep 100";
    const shell = await start("sh", ["-c", script]);
    expect(cgroup.add(shell.identity.pid)).toEqual({ kind: "done" });
    shell.stdin.write("go\n");
    await eventually(() => pidsIn(cgroup).length === 4, "all four are in it");
    expect(cgroup.remove()).toEqual({ kind: "in-use" });
    const empty = cgroup.whenEmpty({ clock: systemClock, withinMs: 5_000 });
    expect(cgroup.kill()).toEqual({ kind: "done" });
    expect(await empty).toBe(true);
    expect((await shell.exited).status).toEqual({ signal: "SIGKILL" });
  });

  it("is found again by its path and name, and by nothing else", () => {
    const name = newName();
    const { path } = made(name);
    expect(openCgroup(path, name)).toMatchObject({ kind: "opened", cgroup: { path } });
    expect(openCgroup(path, newName()).kind).toBe("unavailable");
    expect(openCgroup(`${temporaryDirectory()}/${name}`, name).kind).toBe("unavailable");
    expect(openCgroup(path.replace(name, `${name}0`), `${name}0`)).toEqual({ kind: "gone" });
  });
});

const gatedOptions = (wordFile: string, cgroup: Cgroup): Parameters<typeof spawnGated>[0] => ({
  command: process.execPath,
  args: [fixture("gated.mjs"), wordFile],
  env: baseEnv,
  cwd: "/",
  standardError: "ignore",
  cgroup,
});

describe("spawnGated", () => {
  it("puts the child into its cgroup before the gate is opened", async () => {
    const cgroup = made(newName());
    const wordFile = join(temporaryDirectory(), "word");
    const launched = await spawnGated(gatedOptions(wordFile, cgroup));
    if (launched.kind === "failed") throw new Error(launched.message);
    expect(launched.process.cgroup).toBe(cgroup);
    expect(pidsIn(cgroup)).toEqual([launched.process.identity.pid]);
    launched.process.openGate("go");
    await eventually(() => existsSync(wordFile) && readFileSync(wordFile, "utf8") !== "", "the word arrived");
    expect((await launched.process.signal("SIGKILL")).kind).toBe("sent");
    await launched.process.exited;
  });

  it("launches without one, and says so, when the cgroup takes nobody", async () => {
    const name = newName();
    const result = makeCgroup(name);
    if (result.kind !== "made") throw new Error(result.reason);
    result.cgroup.remove();
    const launched = await spawnGated(gatedOptions("/dev/null", result.cgroup));
    if (launched.kind === "failed") throw new Error(launched.message);
    expect(launched.process.cgroup).toBeNull();
    await launched.process.discard();
  });
});
