import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { errorCode } from "./support/rows.ts";

it("steer reaches the standard input of a running command", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const client = home.start(["prompt", "s", 'echo asking; read -r x; echo "got <$x>"']);
  await client.untilPrinted("asking");
  const steered = await home.ok(["session", "steer", "s", "an answer", "--json"]);
  expect(JSON.parse(steered.stdout)).toMatchObject({ status: "injected" });
  expect(await client.result()).toMatchObject({ code: 0, stdout: "asking\ngot <an answer>\n" });
  const types = (await home.transcript("s")).filter(({ type }) => type === "steer");
  expect(types).toMatchObject([{ outcome: "injected" }]);
});

it("cancel ends the turn, says so to its client and keeps the variables", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  await home.ok(["prompt", "s", "X=kept; cd /usr"]);
  const client = home.start(["prompt", "s", "--json", "echo begun; sleep 600"]);
  await client.untilPrinted("begun");
  await home.ok(["session", "cancel", "s"]);
  const ended = await client.result();
  expect([ended.code, errorCode(ended.stderr)]).toEqual([1, "turn_cancelled"]);
  expect((await home.ok(["prompt", "s", "echo $X $PWD"])).stdout).toBe("kept /usr\n");
  expect((await home.agent(["session", "cancel", "s"])).code).toBe(0);
  expect(home.processes().filter(({ command }) => command === "sleep 600")).toEqual([]);
});

it("follow-ups wait for the turn and run in their order", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const log = join(home.files, "log");
  const client = home.start(["prompt", "s", `echo begun; sleep 1; echo turn >> ${log}`]);
  await client.untilPrinted("begun");
  for (const text of ["one", "two", "three"]) {
    const queued = await home.ok(["session", "follow-up", "s", `echo ${text} >> ${log}`, "--json"]);
    expect(JSON.parse(queued.stdout)).toMatchObject({ actionId: expect.any(String) });
  }
  await home.ok(["prompt", "s", "true"]);
  expect(readFileSync(log, "utf8")).toBe("turn\none\ntwo\nthree\n");
});

it("steer --interrupt ends the turn and prompts at once", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const client = home.start(["prompt", "s", "echo begun; sleep 600"]);
  await client.untilPrinted("begun");
  const log = join(home.files, "log");
  const steered = await home.ok(["session", "steer", "s", `echo steered >> ${log}`, "--interrupt", "--json"]);
  expect(JSON.parse(steered.stdout)).toMatchObject({ status: "interrupted" });
  expect((await client.result()).code).toBe(1);
  await home.ok(["prompt", "s", "true"]);
  expect(readFileSync(log, "utf8")).toBe("steered\n");
});

it("the shell's own end is a failed turn, and the session goes on", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const ended = await home.agent(["prompt", "s", "exit 3"]);
  expect(ended.code).toBe(1);
  expect((await home.ok(["prompt", "s", "echo again"])).stdout).toBe("again\n");
});
