import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import { strictDisk } from "./support/read-only.ts";
import { parseRows } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

const failureIn = (stderr: string): unknown => JSON.parse(stderr.trim().split("\n").at(-1) ?? "").error;
const FORCE_STOP = ["ps", "--force-stop", "--yes", "--json"];

it("I129 ps --force-stop of a read-only home ends neither daemon nor worker, and names both with why; nor does a restart", async () => {
  await using home = await Home.open();
  const disk = strictDisk(home);
  const row = await home.newSession("a");
  const [daemon, worker] = [home.daemon(), home.worker(row)];
  const [dry, stopped] = await disk.sealed(async () => [
    await home.agent(["ps", "--force-stop", "--dry-run", "--json"]),
    // Nothing would be done, so nothing is asked.
    await home.agent(["ps", "--force-stop", "--json"]),
  ]);
  const why = { reason: expect.stringContaining("EROFS") };
  const failed = [
    { kind: "daemon", pid: daemon.pid, ...why },
    { kind: "worker", id: row.sessionId, pid: worker.pid, ...why },
  ];
  expect([dry?.code, JSON.parse(dry?.stdout ?? "")]).toMatchObject([0, { plan: [], failed }]);
  expect([stopped?.code, JSON.parse(stopped?.stdout ?? "")]).toMatchObject([1, { stopped: [], kept: [], failed }]);
  expect(stopped?.stderr).toContain(`cannot stop: worker of a, pid ${worker.pid}`);
  const [restarted] = await disk.sealed(async () => [await home.agent(["daemon", "restart", "--json"])]);
  expect([restarted?.code, failureIn(restarted?.stderr ?? "")]).toMatchObject([3, { code: "daemon_start_failed" }]);
  expect([daemon, worker].map((one) => isRunning(one))).toEqual([true, true]);
  expect((await home.ok(["prompt", "a", "echo served"])).stdout).toBe("served\n");
}, 90_000);

it("I129 ps --force-stop of a home that takes no claim, which no look tells, ends nothing either", async () => {
  await using home = await Home.open();
  const disk = strictDisk(home);
  const row = await home.newSession("a");
  const [daemon, worker] = [home.daemon(), home.worker(row)];
  // It would be made again behind the crowd.
  await waitFor(() => existsSync(join(home.path, "run", "reserve")), "the reserve is kept");
  const stopped = await disk.crowded(() => home.agent(FORCE_STOP));
  const why = { reason: expect.stringMatching(/^nothing was signalled.*ENOSPC/) };
  expect([stopped.code, JSON.parse(stopped.stdout)]).toMatchObject([
    1,
    {
      stopped: [],
      failed: [
        { kind: "daemon", pid: daemon.pid, ...why },
        { kind: "worker", pid: worker.pid, ...why },
      ],
    },
  ]);
  expect([daemon, worker].map((one) => isRunning(one))).toEqual([true, true]);
  const again = await home.agent(FORCE_STOP);
  expect([again.code, JSON.parse(again.stdout)]).toMatchObject([0, { failed: [] }]);
}, 90_000);

it("I129 where no other daemon could take the home, as others may enter it, a forced stop and a restart end nothing", async () => {
  await using home = await Home.open();
  const row = await home.newSession("a");
  const [daemon, worker] = [home.daemon(), home.worker(row)];
  chmodSync(home.path, 0o755);
  const stopped = await home.agent(FORCE_STOP);
  expect([stopped.code, JSON.parse(stopped.stdout)]).toMatchObject([1, { stopped: [], failed: [{}, {}] }]);
  const restarted = await home.agent(["daemon", "restart", "--json"]);
  expect([restarted.code, failureIn(restarted.stderr)]).toMatchObject([7, { code: "unsafe_directory" }]);
  expect([daemon, worker].map((one) => isRunning(one))).toEqual([true, true]);
  chmodSync(home.path, 0o700);
  await home.ok(["daemon", "restart"]);
});

it("reads of a read-only home whose daemon and worker are gone read the state directory, and say why no daemon starts", async () => {
  await using home = await Home.open();
  const disk = strictDisk(home);
  const row = await home.newSession("a", "--prompt", "echo one");
  const worker = home.worker(row);
  await home.kill(home.daemon());
  await home.kill(worker);
  const { list, logs, viewed, waited, refused } = await disk.sealed(async () => ({
    list: await home.agent(["session", "list", "--json"]),
    logs: await home.agent(["logs", "a"]),
    viewed: await home.agent(["attach", "a", "--no-follow"]),
    waited: await home.agent(["wait", "a", "--for", "stopped", "--timeout", "600ms"]),
    refused: [
      await home.agent(["daemon", "start", "--json"]),
      await home.agent(["daemon", "run", "--json"]),
      await home.agent(["session", "new", "--json"]),
    ],
  }));
  const why: unknown = expect.stringMatching(
    /the daemon for \S+ did not start: EROFS.*: reading the state directory\n/,
  );
  expect([list.code, list.stderr, parseRows(list.stdout).map(({ name }) => name)]).toEqual([0, why, ["a"]]);
  expect([logs.code, logs.stderr, logs.stdout]).toEqual([0, why, "one\n"]);
  expect([viewed.code, viewed.stderr, viewed.stdout]).toEqual([0, why, expect.stringContaining("one\n")]);
  // One that looks again and again tries a start once.
  expect([waited.code, waited.stderr.split("starting the daemon").length - 1]).toEqual([8, 1]);
  const failure = { code: "daemon_start_failed", hint: expect.stringContaining("agent doctor") };
  for (const { code, stderr } of refused) expect([code, failureIn(stderr)]).toMatchObject([3, failure]);
}, 90_000);

it("doctor says of a read-only home that it is, with and without a daemon, and a verb is refused", async () => {
  await using home = await Home.open();
  const disk = strictDisk(home);
  await home.newSession("a");
  const problems = async (): Promise<unknown> => JSON.parse((await home.ok(["doctor", "--json"])).stdout).problems;
  const daemon = home.daemon();
  const { served, renamed, alone } = await disk.sealed(async () => {
    const [ofServed, ofVerb] = [await problems(), await home.agent(["session", "rename", "a", "b", "--json"])];
    await home.kill(daemon);
    return { served: ofServed, renamed: ofVerb, alone: await problems() };
  });
  const unwritable: unknown = expect.objectContaining({
    kind: "home_unwritable",
    subject: home.path,
    reason: expect.stringContaining("EROFS"),
  });
  expect(served).toContainEqual(unwritable);
  expect(alone).toContainEqual(unwritable);
  const failure = { code: "permission_denied", hint: expect.stringContaining("agent doctor") };
  expect([renamed.code, failureIn(renamed.stderr)]).toMatchObject([7, failure]);
  expect(await problems()).not.toContainEqual(unwritable);
}, 90_000);
