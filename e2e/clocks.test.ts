import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildProgram, Paused } from "./moments/paused.ts";
import { agentPath } from "./support/command.ts";
import { Home } from "./support/home.ts";
import { type Identity, isFrozen, signal } from "./support/processes.ts";
import { waitFor } from "./support/wait-for.ts";

let directory: string;
let program: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "hf-clocks-"));
  program = await buildProgram(directory);
});
afterAll(() => rmSync(directory, { recursive: true }));

const HOUR_MS = 3_600_000;
const TEN_MINUTES_MS = 600_000;

async function supervised(home: Home): Promise<Paused> {
  const supervisor = Paused.start(home, program, { program: "supervisor", stop: null });
  await supervisor.untilServing();
  return supervisor;
}

it("I136 I143 steps of the wall clock end, relaunch and forget nothing", async () => {
  await using home = await Home.open();
  const supervisor = await supervised(home);
  const row = await home.newSession("s");
  const log = join(home.files, "log");
  for (const wallMs of [48 * HOUR_MS, -48 * HOUR_MS, 0]) {
    supervisor.step({ wallMs, monotonicMs: 0 });
    const prompt = ["prompt", "s", `echo ${wallMs} >> ${log}`, "--request-id", `at${wallMs}`];
    await home.ok(prompt);
    await home.ok(prompt);
    expect(await home.show("s")).toMatchObject({ state: "ready", pid: row.pid });
  }
  expect(readFileSync(log, "utf8")).toBe(`${48 * HOUR_MS}\n${-48 * HOUR_MS}\n0\n`);
  supervisor.step({ wallMs: -48 * HOUR_MS, monotonicMs: 0 });
  await home.kill(home.worker(row));
  expect((await home.ok(["prompt", "s", "echo recovered"])).stdout).toBe("recovered\n");
  supervisor.step({ wallMs: 48 * HOUR_MS, monotonicMs: 0 });
  await home.ok(["stop", "s"]);
  expect((await home.show("s")).state).toBe("stopped");
  expect(home.daemon()).toEqual(supervisor.identity);
});

it("I135 a freeze of ten minutes is no silence: the same worker serves after it, and its turn goes on", async () => {
  await using home = await Home.open();
  const supervisor = await supervised(home);
  const row = await home.newSession("s");
  const log = join(home.files, "log");
  await home.ok(["prompt", "s", "--no-wait", `until test -e ${log}.go; do sleep 0.1; done; echo ran >> ${log}`]);
  const both = [supervisor.identity, home.worker(row)];
  for (const identity of both) home.freeze(identity);
  await waitFor(() => both.every(isFrozen), "both are frozen");
  supervisor.step({ wallMs: TEN_MINUTES_MS, monotonicMs: TEN_MINUTES_MS });
  for (const identity of both) signal(identity, "SIGCONT");
  await home.shell(`touch ${log}.go`);
  await home.ok(["prompt", "s", `echo next >> ${log}`]);
  expect(readFileSync(log, "utf8")).toBe("ran\nnext\n");
  expect(await home.show("s")).toMatchObject({ state: "ready", pid: row.pid, generation: row.generation });
});

it("I130 a stop that was frozen for ten minutes goes on where it was, and ends", async () => {
  await using home = await Home.open();
  const supervisor = await supervised(home);
  const row = await home.newSession("s");
  const worker = home.worker(row);
  home.freeze(worker);
  await waitFor(() => isFrozen(worker), "the worker is frozen");
  const stop = ["stop", "s", "--no-wait", "--request-id", "r"];
  expect((await home.agent(stop)).code).toBe(8);
  home.freeze(supervisor.identity);
  await waitFor(() => isFrozen(supervisor.identity), "the supervisor is frozen");
  supervisor.step({ wallMs: TEN_MINUTES_MS, monotonicMs: TEN_MINUTES_MS });
  for (const identity of [supervisor.identity, worker]) signal(identity, "SIGCONT");
  await home.untilState("s", "stopped");
  expect(await home.agent(stop)).toMatchObject({ code: 0 });
});

it("I135 a successor whose monotonic clock is another (a time namespace) adopts the same worker and recovers it", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.daemon());
  const ahead = ["--time", "--boottime", "864000", "--monotonic", "864000", "--fork"];
  const elsewhen = home.run(["unshare", ...ahead, process.execPath, agentPath, "daemon", "start"]);
  expect((await elsewhen.result()).code).toBe(0);
  expect((await home.ok(["prompt", "s", "echo served"])).stdout).toBe("served\n");
  expect(await home.show("s")).toMatchObject({ pid: row.pid, generation: row.generation });
  // By their numbers outside: a clock that is ahead gives other start ticks.
  const kill = async (found: readonly Identity[]): Promise<void> =>
    void (await Promise.all(found.map(async (identity) => await home.kill(identity))));
  await kill(home.workers());
  expect((await home.ok(["prompt", "s", "echo recovered"])).stdout).toBe("recovered\n");
  // Its launch was in the future of the next supervisor's clock.
  await kill([...home.supervisors(), ...home.workers()]);
  expect((await home.ok(["prompt", "s", "echo again"])).stdout).toBe("again\n");
  expect([home.supervisors(), home.workers()]).toMatchObject([[home.daemon()], [home.worker(row)]]);
});
