import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { Home } from "./support/home.ts";
import { identityOf, isRunning } from "./support/processes.ts";
import { errorCode } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

const ELSEWHERE = "0123456789abcdef0123456789abcdef";
const GOLDEN = join(import.meta.dirname, "..", "packages", "daemon-supervisor", "golden");

/** A worker record of an older form for this session, naming a process. */
function older(
  sessionId: string,
  form: string,
  named: { pid: number; startId: string | null },
  more: object = {},
): string {
  const record = JSON.parse(readFileSync(join(GOLDEN, form), "utf8"));
  const holder = record.process ?? record;
  holder.pid = named.pid;
  if (named.startId === null) delete holder.processStartId;
  else holder.processStartId = named.startId;
  return JSON.stringify({ ...record, workerId: sessionId, ...more });
}

it("I163 a home whose owner is of another machine is refused, says what to do, and nothing of it is acted upon", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  const path = home.ownerPath();
  const own = readFileSync(path, "utf8");
  const record = JSON.parse(own);
  record.identity.machineId = ELSEWHERE;
  const foreign = `${JSON.stringify(record)}\n`;
  writeFileSync(path, foreign);
  const descriptor = readFileSync(home.descriptorPath(row.sessionId), "utf8");
  for (const args of [
    ["prompt", "s", "echo never"],
    ["daemon", "start"],
    ["daemon", "run"],
    ["stop", "s"],
  ]) {
    const refused = await home.agent(args);
    expect([args, refused.code, refused.stdout]).toEqual([args, 3, ""]);
    expect(refused.stderr).toMatch(/another machine.*agent doctor/);
  }
  expect((await home.list()).map(({ sessionId }) => sessionId)).toEqual([row.sessionId]);
  expect([readFileSync(path, "utf8"), readFileSync(home.descriptorPath(row.sessionId), "utf8")]).toEqual([
    foreign,
    descriptor,
  ]);
  expect(readdirSync(join(home.path, "owner"))).toEqual([path.split("/").at(-1)]);
  const refused = await home.agent(["prompt", "s", "echo never", "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([3, "daemon_not_running"]);
  const stopped = await home.agent(["ps", "--force-stop", "--yes", "--json"]);
  const failed = [{ kind: "daemon" }, { kind: "worker", id: row.sessionId }];
  expect([stopped.code, JSON.parse(stopped.stdout)]).toMatchObject([1, { stopped: [], failed }]);
  expect([home.ownerPath(), readFileSync(path, "utf8")]).toEqual([path, foreign]);
  expect([isRunning(home.worker(row)), home.supervisors()]).toEqual([true, []]);
  writeFileSync(path, own);
  expect((await home.ok(["prompt", "s", "echo served"])).stdout).toBe("served\n");
}, 60_000);

it("I163 I134 descriptors of another machine without an owner record: watched, listed with the reason, never signalled", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  await home.kill(home.worker(row));
  rmSync(join(home.path, "owner"), { recursive: true });
  const path = home.descriptorPath(row.sessionId);
  const own = readFileSync(path, "utf8");
  const record = JSON.parse(own);
  const { pid, startTicks } = home.canary.identity;
  record.process.identity = { ...record.process.identity, pid, startTicks, pidfsInode: null, machineId: ELSEWHERE };
  const foreign = `${JSON.stringify(record)}\n`;
  writeFileSync(path, foreign);
  await home.ok(["daemon", "start"]);
  expect(await home.show("s")).toMatchObject({ state: "recovering", reason: expect.stringMatching(/another machine/) });
  expect(readFileSync(path, "utf8")).toBe(foreign);
  const stopped = await home.agent(["stop", "s", "--no-wait", "--force"]);
  expect(stopped.code).toBe(8);
  expect(await home.show("s")).toMatchObject({ state: "stopping", reason: expect.stringMatching(/another machine/) });
  expect(home.canary.touched()).toBe("");
  await home.kill(home.daemon());
  writeFileSync(path, own);
}, 60_000);

it("I81 I84 I89 a bare number in a record of an older form is nobody's: quarantined, kept as it is, never signalled", async () => {
  await using home = await Home.open();
  const forms = ["worker-v1-flat.json", "worker-v2-flat.json", "worker-nested-without-generation.json"];
  const rows = [await home.newSession("a"), await home.newSession("b"), await home.newSession("c")];
  await home.kill(home.daemon());
  const written = new Map<string, string>();
  for (const [index, row] of rows.entries()) {
    await home.kill(home.worker(row));
    const text = older(row.sessionId, forms[index] ?? "", { pid: home.canary.identity.pid, startId: null });
    writeFileSync(home.descriptorPath(row.sessionId), text);
    written.set(row.sessionId, text);
  }
  await home.ok(["daemon", "start"]);
  for (const { sessionId } of rows) {
    expect(await home.show(sessionId)).toMatchObject({
      state: "quarantined",
      pid: null,
      reason: expect.stringMatching(/older form/),
    });
    for (const args of [
      ["stop", sessionId, "--force"],
      ["session", "resume", sessionId],
      ["prompt", sessionId, "true"],
    ]) {
      const refused = await home.agent([...args, "--json"]);
      expect([refused.code, errorCode(refused.stderr)]).toEqual([7, "session_quarantined"]);
    }
  }
  await home.agent(["ps", "--force-stop", "--yes"]);
  const kept = rows.map(({ sessionId }) => [sessionId, readFileSync(home.descriptorPath(sessionId), "utf8")]);
  expect([kept, home.canary.touched()]).toEqual([[...written], ""]);
}, 90_000);

it("I26 I84 a proven worker of an older program stays listed, is stopped by its identity, and then the session goes on", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  await home.kill(home.worker(row));
  const { pid } = home.run(["sleep", "1000"]);
  const worker = await waitFor(() => identityOf(pid), "it runs");
  const named = { pid, startId: `proc:${worker.startTicks}` };
  writeFileSync(home.descriptorPath(row.sessionId), older(row.sessionId, "worker-v2-flat.json", named));
  await home.ok(["daemon", "start"]);
  expect(await home.show("s")).toMatchObject({
    state: "recovering",
    pid,
    reason: expect.stringMatching(/older program/),
  });
  // Its successor finds it in our form.
  await home.kill(home.daemon());
  await home.ok(["daemon", "start"]);
  expect(await home.show("s")).toMatchObject({
    state: "recovering",
    pid,
    reason: expect.stringMatching(/older program/),
  });
  expect(isRunning(worker)).toBe(true);
  await home.ok(["stop", "s"]);
  expect(isRunning(worker)).toBe(false);
  await home.ok(["session", "resume", "s"]);
  expect((await home.ok(["prompt", "s", "echo served"])).stdout).toBe("served\n");
}, 60_000);

it("a daemon of another protocol: reads go by the state directory, what changes something is refused and names the restart", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  const path = home.ownerPath();
  const own = readFileSync(path, "utf8");
  const socketPath = join(home.root, "later.sock");
  const hello = { protocol: { name: "holdfast", version: 99 } };
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.write(`${JSON.stringify({ jsonrpc: "2.0", method: "hello", params: hello })}\n`);
  });
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
  onTestFinished(() => void server.close());
  writeFileSync(path, `${JSON.stringify({ ...JSON.parse(own), socketPath })}\n`);
  const listed = await home.ok(["session", "list", "--json"]);
  expect(JSON.parse(listed.stdout)).toMatchObject({ sessions: [{ sessionId: row.sessionId }] });
  expect(listed.stderr).toMatch(/protocol 99.*agent daemon restart/);
  const refused = await home.agent(["prompt", "s", "echo never", "--json"]);
  expect([refused.code, errorCode(refused.stderr)]).toEqual([3, "version_mismatch"]);
  expect(refused.stderr).toMatch(/agent daemon restart/);
  writeFileSync(path, own);
}, 60_000);
