import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import type { SessionRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

const pids = (all: readonly SessionRow[]): object =>
  Object.fromEntries(all.map(({ sessionId, pid }) => [sessionId, pid]));

it("I135 kill -9 of the supervisor: same workers, turns go on, what was queued runs once", async () => {
  await using home = await Home.open();
  const names = ["a", "b", "c"] as const;
  const rows = await Promise.all(names.map(async (name) => await home.newSession(name)));
  const workers = rows.map((row) => home.worker(row));
  const log = (name: string): string => join(home.files, name);
  for (const name of names) {
    await home.ok(["prompt", name, "--no-wait", `echo turn >> ${log(name)}; sleep 2; echo end >> ${log(name)}`]);
    for (const text of ["f1", "f2"]) await home.ok(["session", "follow-up", name, `echo ${text} >> ${log(name)}`]);
  }
  const daemon = home.daemon();
  await home.kill(daemon);
  const after = await home.list();
  expect(pids(after)).toEqual(pids(rows));
  expect(home.daemon().pid).not.toBe(daemon.pid);
  expect(workers.every((worker) => isRunning(worker))).toBe(true);
  for (const name of names) {
    const done = (): boolean => readFileSync(log(name), "utf8").includes("f2");
    await waitFor(done, `the queue of ${name} has run`, 15_000);
    await home.ok(["prompt", name, "true"]);
    expect(readFileSync(log(name), "utf8")).toBe("turn\nend\nf1\nf2\n");
    expect((await home.transcript(name)).filter(({ type }) => type === "interrupted")).toEqual([]);
  }
});

it("I135 a client that streams a prompt goes on to its end over the kill", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const client = home.start(["prompt", "s", "for i in $(seq 30); do echo $i; sleep 0.1; done"]);
  await client.untilPrinted("5\n");
  await home.kill(home.daemon());
  const { code, stdout } = await client.result();
  expect([code, stdout]).toEqual([0, Array.from({ length: 30 }, (_, index) => `${index + 1}\n`).join("")]);
});
