import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isFrozen, isRunning, signal } from "./support/processes.ts";
import { waitFor } from "./support/wait-for.ts";

const epoch = (path: string): number => Number(/(\d+)\.json$/.exec(path)?.[1]);

it("I138 a frozen daemon is waited for, said to be silent, and not replaced", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const daemon = home.daemon();
  home.freeze(daemon);
  await waitFor(() => isFrozen(daemon), "the daemon is frozen");
  const impatient = home.start(["prompt", "s", "echo never"]);
  const patient = home.start(["session", "list", "--json"]);
  await waitFor(() => /answer|silent/.test(impatient.stderr), "the client says why it waits", 8_000);
  impatient.killGroup();
  expect(patient.hasEnded()).toBe(false);
  signal(daemon, "SIGCONT");
  expect(await patient.result()).toMatchObject({ code: 0 });
  expect(home.daemon()).toEqual(daemon);
  expect(home.supervisors()).toHaveLength(1);
});

it.each([
  { what: "with another start time", exact: false },
  { what: "with its own start time", exact: true },
])(
  "I131 I132 an owner record with a stranger's pid $what stops no start and touches no stranger",
  async ({ exact }) => {
    await using home = await Home.open();
    const row = await home.newSession("s");
    await home.kill(home.daemon());
    const { pid, startTicks } = home.canary.identity;
    const path = home.ownerPath();
    const record = readFileSync(path, "utf8");
    const owner: { identity: object } = JSON.parse(record);
    owner.identity = { ...owner.identity, pid, pidfsInode: null, ...(exact ? { startTicks } : {}) };
    writeFileSync(path, `${JSON.stringify(owner)}\n`);
    expect(await home.agent(["prompt", "s", "echo served"])).toMatchObject({ code: 0, stdout: "served\n" });
    expect((await home.show("s")).pid).toBe(row.pid);
    expect(home.canary.touched()).toBe("");
    await home.ok(["daemon", "stop", "--force"]);
    expect(isRunning(home.canary.identity)).toBe(true);
  },
);

it("I131 ps --force-stop does not take number and start tick for proof: a stranger has both, and no lifeline was made", async () => {
  await using home = await Home.open();
  await home.ok(["daemon", "start"]);
  await home.kill(home.daemon());
  const path = home.ownerPath();
  const record = readFileSync(path, "utf8");
  const owner: { identity: object } = JSON.parse(record);
  const { pid, startTicks } = home.canary.identity;
  const identity = { ...owner.identity, pid, startTicks, pidfsInode: null };
  writeFileSync(path, `${JSON.stringify({ ...owner, identity, lifelinePath: null })}\n`);
  const stopped = await home.agent(["ps", "--force-stop", "--yes", "--json"]);
  expect(home.canary.touched()).toBe("");
  expect([stopped.code, JSON.parse(stopped.stdout)]).toMatchObject([
    1,
    { stopped: [], failed: [{ kind: "daemon", pid }] },
  ]);
  writeFileSync(path, record);
});

it("I131 ps --force-stop ends a daemon whose lifeline was removed: it holds the home in other ways", async () => {
  await using home = await Home.open();
  await home.ok(["daemon", "start"]);
  const daemon = home.daemon();
  // It is still writing there what it keeps for a full disk.
  rmSync(join(home.path, "run"), { recursive: true, maxRetries: 5 });
  home.freeze(daemon);
  expect((await home.agent(["ps", "--force-stop", "--yes"])).code).toBe(0);
  expect(isRunning(daemon)).toBe(false);
});

it("I131 a descriptor with a stranger's pid: stop and --force-stop leave the stranger alone", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  await home.kill(home.worker(row));
  const path = home.descriptorPath(row.sessionId);
  const record: { process: { identity: object } } = JSON.parse(readFileSync(path, "utf8"));
  record.process.identity = { ...record.process.identity, pid: home.canary.identity.pid };
  writeFileSync(path, `${JSON.stringify(record)}\n`);
  expect((await home.agent(["stop", "s", "--force"])).code).toBe(0);
  expect((await home.agent(["ps", "--force-stop", "--yes"])).code).toBe(0);
  expect(home.canary.touched()).toBe("");
});

// Whatever is in a record, the claim goes by its name: claim.test.ts.
it.each(["", "garbage"])("I165 an owner record of %j lowers no epoch and stops no start", async (text) => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  const before = home.ownerPath();
  writeFileSync(before, text);
  expect(await home.agent(["prompt", "s", "echo served"])).toMatchObject({ code: 0, stdout: "served\n" });
  expect((await home.show("s")).pid).toBe(row.pid);
  expect(epoch(home.ownerPath())).toBeGreaterThan(epoch(before));
});

it("I132 I165 a damaged record above that of a dead owner blocks nobody", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  const above = epoch(home.ownerPath()) + 1;
  writeFileSync(join(home.path, "owner", `${above}.json`), "garbage");
  expect((await home.list()).map(({ sessionId }) => sessionId)).toEqual([row.sessionId]);
  expect(await home.agent(["prompt", "s", "echo served"])).toMatchObject({ code: 0, stdout: "served\n" });
  expect(epoch(home.ownerPath())).toBe(above + 1);
});
