import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { agentPath } from "./support/command.ts";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import { errorCode, parseRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";
import { commandWithoutLibrary } from "./support/without-library.ts";

interface Problem {
  readonly kind: string;
  readonly subject: string;
  readonly reason: string;
  readonly next?: string;
  readonly needs?: readonly string[];
}

async function doctor(home: Home, ...args: readonly string[]): Promise<readonly Problem[]> {
  const { stdout } = await home.agent([...args, "doctor", "--json"]);
  const { problems }: { readonly problems: readonly Problem[] } = JSON.parse(stdout);
  return problems.filter(({ kind }) => kind !== "narrow_signals" && kind !== "no_peer_check");
}

const programs = [
  ["", agentPath],
  ["without the library, ", commandWithoutLibrary(afterAll)],
] as const;

it.each(programs)(
  "I131 I147 %sa copy of a home signals no worker of the original, by no verb, and says whose it is",
  async (_title, agent) => {
    await using home = await Home.open({ agent });
    const row = await home.newSession("s");
    const worker = home.worker(row);
    await home.ok(["daemon", "stop", "--keep-workers"]);
    const copy = `${home.path}-copy`;
    expect((await home.run(["cp", "-a", home.path, copy]).result()).code).toBe(0);
    const of = ["--home", copy];
    const plan = await home.ok([...of, "ps", "--force-stop", "--yes"]);
    expect(plan.stdout).not.toContain(String(worker.pid));
    const shown = parseRow((await home.ok([...of, "session", "show", "s", "--json"])).stdout);
    expect(shown).toMatchObject({ state: "quarantined", reason: expect.stringContaining(home.path) });
    for (const verb of [
      ["stop", "s"],
      ["prompt", "s", "echo copy"],
      ["session", "resume", "s"],
    ]) {
      const { code, stderr } = await home.agent([...of, ...verb, "--json"]);
      expect([verb, code, errorCode(stderr)]).toEqual([verb, 7, "session_quarantined"]);
    }
    // Nothing of it lives in the copy: no assertion is asked for, and nobody is told to end the original's process.
    expect(await doctor(home, ...of)).toMatchObject([
      { kind: "descriptor_damaged", subject: row.sessionId, needs: [] },
    ]);
    await home.ok([...of, "doctor", "--repair", "--yes"]);
    const rests = parseRow((await home.ok([...of, "session", "show", "s", "--json"])).stdout);
    expect(rests).toMatchObject({ state: "stopped", pid: null });
    await home.ok([...of, "ps", "--force-stop", "--yes"]);
    expect(isRunning(worker)).toBe(true);
    expect((await home.ok(["prompt", "s", "echo original"])).stdout).toBe("original\n");
    expect(home.worker(row).pid).toBe(worker.pid);
  },
);

it.each(programs)(
  "I131 I144 I147 %sa copy that stands where its original was moved from leaves its worker alone, and the moved home has it",
  async (_title, agent) => {
    await using home = await Home.open({ agent });
    const worker = home.worker(await home.newSession("s"));
    await home.ok(["daemon", "stop", "--keep-workers"]);
    // A worker whose home is gone ends; this one does not see that it was.
    home.freeze(worker);
    const moved = `${home.path}-moved`;
    renameSync(home.path, moved);
    expect((await home.run(["cp", "-a", moved, home.path]).result()).code).toBe(0);
    const plan = await home.ok(["ps", "--force-stop", "--yes"]);
    expect(plan.stdout).not.toContain(String(worker.pid));
    expect((await doctor(home)).filter(({ kind }) => kind === "leftover")).toEqual([]);
    expect(isRunning(worker)).toBe(true);
    await home.ok(["--home", moved, "daemon", "start"]);
    const there = parseRow((await home.ok(["--home", moved, "session", "show", "s", "--json"])).stdout);
    // Nothing is recovered beside it.
    expect([there.pid, home.workers().map(({ pid }) => pid)]).toEqual([worker.pid, [worker.pid]]);
    await home.ok(["--home", moved, "ps", "--force-stop", "--yes"]);
    expect(isRunning(worker)).toBe(false);
  },
);

it.each(programs)(
  "I131 I147 %sa copy that stands where its original was moved from leaves its daemon alone, and the moved home has it",
  async (_title, agent) => {
    await using home = await Home.open({ agent });
    const both = [home.worker(await home.newSession("s")), home.daemon()];
    // Neither sees that its home was moved.
    for (const one of both) home.freeze(one);
    const moved = `${home.path}-moved`;
    renameSync(home.path, moved);
    expect((await home.run(["cp", "-a", moved, home.path]).result()).code).toBe(0);
    const stopped = await home.agent(["ps", "--force-stop", "--yes", "--json"]);
    expect(JSON.parse(stopped.stdout)).toMatchObject({ stopped: [] });
    expect(both.map((one) => isRunning(one))).toEqual([true, true]);
    await home.ok(["--home", moved, "ps", "--force-stop", "--yes"]);
    expect(both.map((one) => isRunning(one))).toEqual([false, false]);
  },
);

it("I131 I147 a copy of hard links, in which each lifeline is the original's, signals no worker of that", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const worker = home.worker(row);
  await home.ok(["daemon", "stop", "--keep-workers"]);
  const copy = `${home.path}-copy`;
  expect((await home.run(["cp", "-al", home.path, copy]).result()).code).toBe(0);
  const of = ["--home", copy];
  expect((await home.ok([...of, "ps", "--force-stop", "--yes"])).stdout).not.toContain(String(worker.pid));
  const shown = parseRow((await home.ok([...of, "session", "show", "s", "--json"])).stdout);
  expect(shown).toMatchObject({ state: "quarantined", reason: expect.stringContaining(home.path) });
  expect(isRunning(worker)).toBe(true);
  expect((await home.ok(["prompt", "s", "echo original"])).stdout).toBe("original\n");
  expect(home.worker(row).pid).toBe(worker.pid);
});

it("I147 a home that was moved, and begun anew at its old path, has its sessions: the other one does not know them", async () => {
  await using home = await Home.open();
  await home.newSession("s", "--prompt", "echo one");
  await home.kill(home.daemon());
  const moved = `${home.path}-moved`;
  renameSync(home.path, moved);
  await waitFor(() => home.workers().length === 0, "its worker ended by itself", 25_000);
  await home.newSession("fresh");
  const there = await home.agent(["--home", moved, "prompt", "s", "echo two"]);
  expect(there).toMatchObject({ code: 0, stdout: "two\n" });
  await home.ok(["--home", moved, "ps", "--force-stop", "--yes"]);
  expect((await home.ok(["prompt", "fresh", "echo fresh"])).stdout).toBe("fresh\n");
});

it("I131 a descriptor that was copied to another session's name: nobody is told to end the worker that it names", async () => {
  await using home = await Home.open();
  const row = await home.newSession("a");
  const other = await home.newSession("b");
  await home.ok(["stop", "b"]);
  await home.ok(["daemon", "stop", "--keep-workers"]);
  copyFileSync(home.descriptorPath(row.sessionId), home.descriptorPath(other.sessionId));
  const found = await doctor(home);
  expect(found).toMatchObject([{ kind: "descriptor_damaged", subject: other.sessionId, needs: [] }]);
  await home.ok(["doctor", "--repair", "--yes"]);
  expect(await doctor(home)).toEqual([]);
  expect((await home.ok(["prompt", "a", "echo served"])).stdout).toBe("served\n");
  expect(parseRow((await home.ok(["session", "resume", "b", "--json"])).stdout).state).toBe("ready");
});

it("I81 I144 an older record that proves nothing is released by a person's word alone, and told without a daemon too", async () => {
  await using home = await Home.open();
  const { sessionId } = await home.newSession("s");
  await home.ok(["stop", "s"]);
  await home.ok(["daemon", "stop"]);
  const record = join(home.path, "sessions", sessionId, "session.json");
  writeFileSync(record, readFileSync(record, "utf8").replace('"stopped"', '"running"'));
  const { pid } = home.canary.identity;
  const older = {
    version: 1,
    workerId: sessionId,
    socketPath: "/x",
    authenticationToken: "t",
    lifecycle: "ready",
    pid,
  };
  mkdirSync(join(home.path, "workers"), { recursive: true, mode: 0o700 });
  writeFileSync(home.descriptorPath(sessionId), JSON.stringify(older), { mode: 0o600 });
  const quarantine = { kind: "session_quarantined", subject: sessionId, needs: ["gone"] };
  expect(await doctor(home)).toMatchObject([quarantine]);
  await home.ok(["daemon", "start"]);
  expect(await doctor(home)).toMatchObject([quarantine]);
  await home.agent(["doctor", "--repair", "--yes"]);
  expect((await home.show("s")).state).toBe("quarantined");
  await home.ok(["doctor", "--repair", "--yes", "--assert-gone", sessionId]);
  expect((await home.show("s")).state).toBe("stopped");
});
