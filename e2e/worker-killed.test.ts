import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { errorCode } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

it("I136 I161 kill -9 of a worker in a turn: marked, not run again; what was queued runs in order, once", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const other = await home.newSession("other");
  const [count, order] = [join(home.files, "count"), join(home.files, "order")];
  const client = home.start(["prompt", "s", "--json", `echo ran >> ${count}; sleep 600`]);
  await waitFor(() => existsSync(count), "the command runs");
  for (const text of ["f1", "f2"]) await home.ok(["session", "follow-up", "s", `echo ${text} >> ${order}`]);
  await home.kill(home.worker(row));

  const ended = await client.result();
  expect([ended.code, errorCode(ended.stderr)]).toEqual([8, "interrupted"]);
  await waitFor(() => existsSync(order) && readFileSync(order, "utf8").includes("f2"), "the queue has run", 15_000);
  expect((await home.ok(["prompt", "s", "echo ok"])).stdout).toBe("ok\n");
  expect(readFileSync(order, "utf8")).toBe("f1\nf2\n");
  expect(readFileSync(count, "utf8")).toBe("ran\n");

  const marked = (await home.transcript("s")).filter(({ type }) => type === "interrupted");
  expect(marked).toHaveLength(1);
  expect(marked[0]?.operations).toMatchObject([{ operationId: expect.any(String) }]);
  expect((await home.show("other")).pid).toBe(other.pid);
  expect(home.processes().filter(({ command }) => command === "sleep 600")).toEqual([]);
});

it("I136 an idle worker that is killed comes back by itself with another process and its directory", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.ok(["prompt", "s", "cd /usr/bin"]);
  await home.kill(home.worker(row));
  const back = async (): Promise<boolean> => {
    const { state, pid } = await home.show("s");
    return state === "ready" && pid !== row.pid;
  };
  await waitFor(back, "the session is ready again");
  expect((await home.ok(["prompt", "s", "pwd"])).stdout).toBe("/usr/bin\n");
});

it("I136 a prompt during the recovery is accepted and runs after it", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  await home.kill(home.worker(row));
  expect(await home.agent(["prompt", "s", "echo back"])).toMatchObject({ code: 0, stdout: "back\n" });
});
