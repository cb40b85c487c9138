import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { signal } from "./support/processes.ts";
import { psOf } from "./support/ps.ts";
import { parseRow } from "./support/rows.ts";
import { pause } from "./support/wait-for.ts";

it("I139 I144 24 cold clients get one daemon and one session", async () => {
  await using home = await Home.open();
  const args = ["session", "new", "--name", "one", "--ensure", "--json"];
  const results = await Promise.all(
    Array.from({ length: 24 }, async () => await home.agent(args, { timeoutMs: 60_000 })),
  );
  expect(results.filter(({ code }) => code !== 0).map(({ code, stderr }) => [code, stderr])).toEqual([]);
  const rows = results.map(({ stdout }) => parseRow(stdout));
  expect(new Set(rows.map(({ sessionId }) => sessionId)).size).toBe(1);
  expect(rows.filter(({ created }) => created)).toHaveLength(1);
  expect(home.supervisors().map(({ pid }) => pid)).toEqual([home.daemon().pid]);
  expect((await psOf(home)).workers).toHaveLength(1);
}, 90_000);

it("I139 a daemon start killed at any moment does not block the next command", async () => {
  await using home = await Home.open();
  for (const moment of [30, 80, 130, 180, 240, 320, 450, 700]) {
    const starting = home.start(["daemon", "start"]);
    await pause(moment);
    starting.killGroup();
    await starting.ended;
    for (const process of home.processes()) signal(process, "SIGKILL");
  }
  expect(await home.agent(["new", "--prompt", "echo served"])).toMatchObject({ code: 0, stdout: "served\n" });
  expect(home.supervisors()).toHaveLength(1);
}, 60_000);

it("reads start nothing in a home that never had a daemon, and --no-autostart keeps mutations from it", async () => {
  await using home = await Home.open();
  const list = await home.agent(["session", "list", "--json"]);
  expect([list.code, JSON.parse(list.stdout)]).toEqual([0, { schemaVersion: 1, sessions: [] }]);
  expect(list.stderr).toMatch(/no daemon/);
  expect(await home.agent(["--no-autostart", "session", "new"])).toMatchObject({ code: 3, stdout: "" });
  expect(home.processes()).toEqual([]);
});
