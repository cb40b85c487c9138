import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { agentPath } from "./support/command.ts";
import { Home } from "./support/home.ts";
import { errorLines } from "./support/rows.ts";

it("I154 the node of a living daemon is removed: what runs lives on, what starts fails and says why, and nothing is lost", async () => {
  await using home = await Home.open();
  const node = join(home.files, "node");
  copyFileSync(process.execPath, node);
  expect((await home.run([node, agentPath, "daemon", "start"]).result()).code).toBe(0);
  const [lives, dies] = [await home.newSession("lives"), await home.newSession("dies")];
  await home.ok(["prompt", "dies", "echo before"]);
  rmSync(node);

  const refused = await home.agent(["session", "new", "--name", "late", "--json"]);
  expect([refused.code, errorLines(refused.stderr)]).toMatchObject([6, [{ code: "session_failed" }]]);
  expect(refused.stderr).toContain(node);
  expect((await home.ok(["prompt", "lives", "echo alive"])).stdout).toBe("alive\n");

  await home.kill(home.worker(dies));
  const failed = await home.untilState("dies", "failed");
  expect(failed.reason).toContain(node);
  expect(await home.show("lives")).toMatchObject({ state: "ready", pid: lives.pid });

  // Whoever asks has a node; the daemon that it starts has it too.
  await home.ok(["daemon", "restart"]);
  expect(await home.show("lives")).toMatchObject({ state: "ready", pid: lives.pid });
  for (const name of ["dies", "late"]) await home.ok(["session", "resume", name]);
  expect((await home.ok(["prompt", "dies", "echo after"])).stdout).toBe("after\n");
  expect((await home.transcript("dies")).filter(({ type }) => type === "output").map(({ text }) => text)).toEqual([
    "before\n",
    "after\n",
  ]);
});
