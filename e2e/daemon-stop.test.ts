import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import { psOf } from "./support/ps.ts";
import { errorCode } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

it("start with one running, status and stop without one: 0, 3, 0", async () => {
  await using home = await Home.open();
  const status = await home.agent(["daemon", "status", "--json"]);
  expect([status.code, errorCode(status.stderr), status.stdout]).toEqual([3, "daemon_not_running", ""]);
  expect(await home.agent(["daemon", "stop"])).toMatchObject({ code: 0 });
  const pids: unknown[] = [];
  for (let round = 0; round < 2; round += 1)
    pids.push(JSON.parse((await home.ok(["daemon", "start", "--json"])).stdout).pid);
  expect(pids[0]).toBe(pids[1]);
  expect((await home.ok(["daemon", "status", "--quiet"])).stdout).toBe(`${home.daemon().pid}\n`);
  await home.ok(["daemon", "stop"]);
  await waitFor(() => home.processes().length === 0, "the daemon has ended");
});

it("I126 the daemon says of itself the version that --version prints, and counts as current", async () => {
  await using home = await Home.open();
  await home.ok(["daemon", "start"]);
  const printed = (await home.ok(["--version"])).stdout.trim();
  const released: { readonly version: string } = JSON.parse(
    readFileSync(new URL("../packages/cli/package.json", import.meta.url), "utf8"),
  );
  const record: { readonly version: string } = JSON.parse(readFileSync(home.ownerPath(), "utf8"));
  const said = async (...args: string[]): Promise<string> =>
    JSON.parse((await home.ok([...args, "--json"])).stdout).version;
  const all = [record.version, await said("version"), await said("daemon", "status")];
  expect([printed, ...all]).toEqual(all.concat(printed).map(() => released.version));
  const hello = await new Promise<string>((resolve, reject) => {
    const socket = connect(JSON.parse(readFileSync(home.ownerPath(), "utf8")).socketPath);
    socket.once("error", reject).once("data", (line) => {
      socket.destroy();
      resolve(line.toString());
    });
  });
  expect(JSON.parse(hello.split("\n")[0] ?? "")).toMatchObject({ params: { version: printed } });
  const [daemon] = (await psOf(home)).daemons;
  expect(daemon).toMatchObject({ version: printed, status: "current" });
});

it("I113 daemon stop --force ends a frozen worker that is ours before it ends itself", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const [daemon, worker] = [home.daemon(), home.worker(row)];
  home.freeze(worker);
  await home.ok(["daemon", "stop", "--force"]);
  expect([isRunning(worker), isRunning(daemon), home.processes()]).toEqual([false, false, []]);
  expect((await home.show("s")).state).toBe("passivated");
}, 60_000);

it("I125 daemon stop with a busy session names it; --keep-workers leaves it at work", async () => {
  await using home = await Home.open();
  const busy = await home.newSession("busy");
  const log = join(home.files, "log");
  await home.ok(["prompt", "busy", "--no-wait", `echo begun >> ${log}; sleep 3; echo ended >> ${log}`]);
  await waitFor(() => existsSync(log), "the session is busy");
  const daemon = home.daemon();
  const refused = await home.agent(["daemon", "stop", "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([5, "daemon_busy"]);
  expect(refused.stderr).toMatch(new RegExp(`busy|${busy.sessionId}`));
  expect(isRunning(daemon)).toBe(true);
  await home.ok(["daemon", "stop", "--keep-workers"]);
  await waitFor(() => !isRunning(daemon), "the daemon has ended");
  expect((await home.ok(["prompt", "busy", "echo next"])).stdout).toBe("next\n");
  expect((await home.show("busy")).pid).toBe(busy.pid);
  expect(readFileSync(log, "utf8")).toBe("begun\nended\n");
});

it("a client that follows a prompt says soon that daemon stop --keep-workers took its way to the answer", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const client = home.start(["prompt", "s", "echo begun; sleep 600"]);
  await client.untilPrinted("begun");
  await home.ok(["daemon", "stop", "--keep-workers"]);
  const { code, stderr } = await client.result(15_000);
  expect(code).toBe(8);
  expect(stderr).toContain("the prompt was accepted, but its answer cannot be followed: no daemon runs");
  expect(stderr).toContain("hint: agent daemon start, then agent attach s\n");
});

it("I125 daemon stop --force interrupts visibly, and what was accepted stays queued", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const log = join(home.files, "log");
  const client = home.start(["prompt", "s", `echo ran >> ${log}; sleep 600`]);
  await waitFor(() => existsSync(log), "the session is busy");
  await home.ok(["session", "follow-up", "s", `echo queued >> ${log}`]);
  await home.ok(["daemon", "stop", "--force"]);
  await waitFor(() => home.processes().every(({ pid }) => pid === client.pid), "daemon, worker and command have ended");
  expect((await client.result()).code).toBe(8);
  expect(readFileSync(log, "utf8")).toBe("ran\n");
  await home.ok(["daemon", "start"]);
  await home.ok(["prompt", "s", "true"]);
  expect(readFileSync(log, "utf8")).toBe("ran\nqueued\n");
  expect((await home.transcript("s")).some(({ type }) => type === "interrupted")).toBe(true);
});

it("daemon stop passivates: a prompt activates the session in the directory where it was", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.ok(["prompt", "s", "cd /usr/lib"]);
  await home.ok(["daemon", "stop"]);
  await waitFor(() => home.processes().length === 0, "daemon and worker have ended");
  const listed = await home.agent(["session", "list", "--json"]);
  expect(listed.code).toBe(0);
  expect(JSON.parse(listed.stdout).sessions).toMatchObject([
    { sessionId: row.sessionId, state: "passivated", pid: null },
  ]);
  expect((await home.ok(["prompt", "s", "pwd"])).stdout).toBe("/usr/lib\n");
});

it("daemon restart keeps the workers", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const daemon = home.daemon();
  await home.ok(["daemon", "restart"]);
  expect(home.daemon().pid).not.toBe(daemon.pid);
  expect(await home.show("s")).toMatchObject({ pid: row.pid, state: "ready" });
});
