import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import { parseRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

const isWhole = (path: string): boolean => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) !== null;
  } catch {
    return false;
  }
};

it("I162 a stop settles what was accepted, visibly: neither the turn nor its followers run later", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const log = join(home.files, "log");
  const client = home.start(["prompt", "s", `echo ran >> ${log}; sleep 600`]);
  await waitFor(() => existsSync(log), "the command runs");
  const queued = home.start(["prompt", "s", `echo queued >> ${log}`]);
  await waitFor(
    async () => (await home.transcript("s")).filter(({ type }) => type === "prompt_accepted").length === 2,
    "queued",
  );
  await home.ok(["stop", "s"]);
  const codes = [(await client.result()).code, (await queued.result()).code];
  expect(codes.every((code) => code === 1 || code === 8)).toBe(true);
  await home.ok(["session", "resume", "s"]);
  await home.ok(["prompt", "s", "true"]);
  expect(readFileSync(log, "utf8")).toBe("ran\n");
});

it("I154 a working directory that vanished is terminal until it is back and a resume comes", async () => {
  await using home = await Home.open();
  const directory = join(home.files, "project");
  mkdirSync(directory);
  const row = await home.newSession("s", "--cwd", directory);
  await home.newSession("other");
  rmdirSync(directory);
  await home.kill(home.worker(row));
  const failed = await home.untilState("s", "failed");
  expect(failed.reason).toMatch(/director|project/);
  expect((await home.ok(["prompt", "other", "echo fine"])).stdout).toBe("fine\n");
  mkdirSync(directory);
  expect(parseRow((await home.ok(["session", "resume", "s", "--json"])).stdout).state).toBe("ready");
  expect((await home.ok(["prompt", "s", "pwd"])).stdout).toBe(`${directory}\n`);
});

it("I146 sockets and lifelines deleted under a live daemon: nobody dies, and stop still works", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const worker = home.worker(row);
  const run = join(home.path, "run");
  for (const name of readdirSync(run)) rmSync(join(run, name));
  expect(await home.agent(["prompt", "s", "echo healed"])).toMatchObject({ code: 0, stdout: "healed\n" });
  expect(isRunning(worker)).toBe(true);
  expect((await home.agent(["stop", "s"])).code).toBe(0);
  expect(isRunning(worker)).toBe(false);
}, 60_000);

it("I146 a home that was moved: its worker ends by itself, its sessions come back where it is now", async () => {
  await using home = await Home.open();
  await home.newSession("s", "--prompt", "echo one");
  await home.kill(home.daemon());
  const moved = join(home.root, "moved");
  renameSync(home.path, moved);
  await waitFor(() => home.processes().length === 0, "the worker ended itself", 25_000);
  expect(existsSync(home.path)).toBe(false);
  const there = await home.agent(["--home", moved, "prompt", "s", "echo two"]);
  expect(there).toMatchObject({ code: 0, stdout: "two\n" });
  await home.ok(["--home", moved, "ps", "--force-stop", "--yes"]);
}, 60_000);

it("I108 I146 the owner records deleted under a live daemon: it says again who owns the home, and lives on", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const daemon = home.daemon();
  // In one step: a record that is written again at once would stand in the way of a removal.
  renameSync(join(home.path, "owner"), join(home.root, "owner"));
  await waitFor(
    () =>
      existsSync(join(home.path, "owner")) &&
      readdirSync(join(home.path, "owner")).some((name) => name.endsWith(".json")),
    "it is back",
  );
  expect(home.daemon()).toEqual(daemon);
  expect(isRunning(daemon)).toBe(true);
  expect((await home.ok(["prompt", "s", "echo served"])).stdout).toBe("served\n");
});

it("I140 I146 an owner's and a worker's record cut short under a live daemon are written again", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const daemon = home.daemon();
  const paths = [home.ownerPath(), home.descriptorPath(row.sessionId)];
  truncateSync(home.ownerPath(), 0);
  truncateSync(home.descriptorPath(row.sessionId), 100);
  await waitFor(() => paths.every(isWhole), "both are whole");
  expect([home.daemon(), home.worker(row).pid]).toEqual([daemon, row.pid]);
  expect((await home.agent(["ps", "--force-stop", "--yes"])).code).toBe(0);
  expect(home.processes()).toEqual([]);
});

it("I165 owner records lost while no daemon runs: the home is claimed above the epoch that its workers remember", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  for (let round = 0; round < 3; round += 1) await home.ok(["daemon", "restart"]);
  await home.ok(["daemon", "stop", "--keep-workers"]);
  rmSync(join(home.path, "owner"), { recursive: true });
  expect((await home.ok(["prompt", "s", "echo served"])).stdout).toBe("served\n");
  expect((await home.show("s")).pid).toBe(row.pid);
  expect(home.supervisors()).toHaveLength(1);
});

it("I124 partial copies that a cut-off write left are gone after the next start", async () => {
  await using home = await Home.open();
  const [row, atRest] = [await home.newSession("s"), await home.newSession("r")];
  await home.ok(["stop", "r"]);
  await home.ok(["daemon", "stop", "--keep-workers"]);
  const left = [
    "owner/1.json",
    `workers/${row.sessionId}.json`,
    `sessions/${row.sessionId}/session.json`,
    `sessions/${atRest.sessionId}/session.json`,
  ].map((path) => join(home.path, `${path}.0123456789ab.tmp`));
  for (const path of left) writeFileSync(path, "{");
  await home.ok(["prompt", "s", "true"]);
  expect(left.filter((path) => existsSync(path))).toEqual([]);
});

it("I146 a removed folder of workers, logs or sockets: sessions are stopped and created all the same", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  for (const folder of ["workers", "logs", "run"]) {
    const worker = home.worker(await home.show("s"));
    rmSync(join(home.path, folder), { recursive: true });
    await home.ok(["stop", "s"]);
    expect([folder, isRunning(worker)]).toEqual([folder, false]);
    expect((await home.ok(["new", "--name", folder, "--prompt", "echo served"])).stdout).toBe("served\n");
    await home.ok(["session", "resume", "s"]);
  }
}, 90_000);

it("I144 I146 descriptors removed under a living daemon are written again: its successor adopts the same workers", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  // In one step: a folder that the daemon fills again cannot be removed file by file.
  renameSync(join(home.path, "workers"), join(home.files, "removed"));
  await waitFor(() => existsSync(home.descriptorPath(row.sessionId)), "the descriptor is there again");
  await home.kill(home.daemon());
  expect((await home.ok(["prompt", "s", "echo served"])).stdout).toBe("served\n");
  expect((await home.show("s")).pid).toBe(row.pid);
});

it("I144 a session whose worker lives while its descriptor was lost gets no second one, and is not taken for stopped", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const worker = home.worker(row);
  await home.kill(home.daemon());
  rmSync(join(home.path, "workers"), { recursive: true });
  await home.ok(["daemon", "start"]);
  expect(await home.show("s")).toMatchObject({ state: "quarantined" });
  for (const verb of [
    ["stop", "s"],
    ["session", "resume", "s"],
    ["session", "delete", "s", "--yes"],
  ])
    expect([verb, (await home.agent(verb)).code]).toEqual([verb, 7]);
  expect(isRunning(worker)).toBe(true);
  await home.ok(["ps", "--force-stop", "--yes"]);
  expect(isRunning(worker)).toBe(false);
  await home.ok(["session", "resume", "s"]);
});
