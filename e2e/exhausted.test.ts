import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { smallDisk } from "./support/small-disk.ts";
import { isRunning } from "./support/processes.ts";
import { waitFor } from "./support/wait-for.ts";

it("I141 I168 a full disk: requests fail visibly, a stop completes, and all returns by itself", async () => {
  await using home = await Home.open();
  const disk = smallDisk(home);
  await home.newSession("kept", "--prompt", "echo one");
  const row = await home.newSession("stopped");
  const worker = home.worker(row);
  const daemon = home.daemon();
  disk.fill();
  expect(await home.agent(["new", "--name", "refused"])).toMatchObject({ code: 6 });
  // Larger than what the last block of the transcript may still hold.
  const two = ["prompt", "kept", "--request-id", "r-1", `: ${"x".repeat(20_000)}; echo two`];
  expect(await home.agent(two)).toMatchObject({ code: 6 });
  // Twice: the second must not take back what the first could only write as a name.
  await home.ok(["stop", "stopped"]);
  await home.ok(["stop", "stopped"]);
  expect(isRunning(worker)).toBe(false);
  expect((await home.show("stopped")).state).toBe("stopped");
  disk.free();
  const prompt = async (): Promise<boolean> => (await home.agent(two)).stdout === "two\n";
  await waitFor(prompt, "prompts are taken again");
  await home.ok(["session", "resume", "stopped"]);
  expect((await home.ok(["prompt", "stopped", "echo back"])).stdout).toBe("back\n");
  expect((await home.list()).map(({ name, state }) => [name, state])).toEqual([
    ["stopped", "ready"],
    ["kept", "ready"],
  ]);
  expect(home.daemon()).toEqual(daemon);
}, 90_000);

it("I168 a disk without a free block and no daemon: stop and ps --force-stop end the workers all the same", async () => {
  await using home = await Home.open();
  const disk = smallDisk(home);
  const rows = [await home.newSession("one"), await home.newSession("two"), await home.newSession("three")];
  const workers = rows.map((row) => home.worker(row));
  await waitFor(() => existsSync(join(home.path, "run", "reserve")), "the reserve is kept");
  disk.fill();
  await home.kill(home.daemon());
  await home.ok(["stop", "one"]);
  expect(workers.map((worker) => isRunning(worker))).toEqual([false, true, true]);
  await home.kill(home.daemon());
  expect((await home.agent(["ps", "--force-stop", "--yes"])).code).toBe(0);
  expect(workers.filter((worker) => isRunning(worker))).toEqual([]);
  disk.free();
  expect((await home.list()).map(({ state }) => state)).toEqual(["stopped", "stopped", "stopped"]);
  // A repeat must not remove the only trace of a stop that a full disk took.
  for (const name of ["one", "two", "three"]) await home.ok(["stop", name]);
  await home.ok(["daemon", "restart"]);
  expect((await home.list()).map(({ state }) => state)).toEqual(["stopped", "stopped", "stopped"]);
  await home.ok(["session", "resume", "one"]);
}, 90_000);

it("I155 no descriptors left in the daemon: a new session says so, and starts by itself later", async () => {
  await using home = await Home.open();
  await home.newSession("first");
  const { pid } = home.daemon();
  const used = readdirSync(`/proc/${pid}/fd`).length;
  execFileSync("prlimit", ["--pid", String(pid), `--nofile=${used + 2}:4096`]);
  const refused = await home.agent(["new", "--name", "second", "--json"]);
  expect(refused.code).toBe(6);
  expect(refused.stderr).toContain("too_many_open_files");
  execFileSync("prlimit", ["--pid", String(pid), "--nofile=4096:4096"]);
  await home.untilState("second", "ready", 20_000);
  expect((await home.ok(["prompt", "second", "echo served"])).stdout).toBe("served\n");
  expect(readFileSync(`/proc/${pid}/comm`, "utf8")).toBe("holdfastd\n");
}, 60_000);
