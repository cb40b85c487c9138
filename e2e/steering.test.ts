import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { errorCode } from "./support/rows.ts";

let home: Home;
beforeAll(async () => {
  home = await Home.create();
});
afterAll(async () => await home[Symbol.asyncDispose]());

it("steer reaches the standard input of a running command", async () => {
  await home.newSession("asking");
  const client = home.start(["prompt", "asking", 'echo asking; read -r x; echo "got <$x>"']);
  await client.untilPrinted("asking");
  const steered = await home.ok(["session", "steer", "asking", "an answer", "--json"]);
  expect(JSON.parse(steered.stdout)).toMatchObject({ status: "injected" });
  expect(await client.result()).toMatchObject({ code: 0, stdout: "asking\ngot <an answer>\n" });
  const types = (await home.transcript("asking")).filter(({ type }) => type === "steer");
  expect(types).toMatchObject([{ outcome: "injected" }]);
});

it("cancel ends the turn, says so to its client and keeps the variables", async () => {
  await home.newSession("cancelled");
  await home.ok(["prompt", "cancelled", "X=kept; cd /usr"]);
  const client = home.start(["prompt", "cancelled", "--json", "echo begun; sleep 601"]);
  await client.untilPrinted("begun");
  await home.ok(["session", "cancel", "cancelled"]);
  const ended = await client.result();
  expect([ended.code, errorCode(ended.stderr)]).toEqual([1, "turn_cancelled"]);
  expect((await home.ok(["prompt", "cancelled", "echo $X $PWD"])).stdout).toBe("kept /usr\n");
  expect((await home.agent(["session", "cancel", "cancelled"])).code).toBe(0);
  expect(home.processes().filter(({ command }) => command === "sleep 601")).toEqual([]);
});

it("follow-ups wait for the turn and run in their order", async () => {
  await home.newSession("ordered");
  const log = join(home.files, "ordered");
  const client = home.start(["prompt", "ordered", `echo begun; sleep 1; echo turn >> ${log}`]);
  await client.untilPrinted("begun");
  for (const text of ["one", "two", "three"]) {
    const queued = await home.ok(["session", "follow-up", "ordered", `echo ${text} >> ${log}`, "--json"]);
    expect(JSON.parse(queued.stdout)).toMatchObject({ actionId: expect.any(String) });
  }
  await home.ok(["prompt", "ordered", "true"]);
  expect(readFileSync(log, "utf8")).toBe("turn\none\ntwo\nthree\n");
});

it("steer --interrupt ends the turn and prompts at once", async () => {
  await home.newSession("interrupted");
  const client = home.start(["prompt", "interrupted", "echo begun; sleep 600"]);
  await client.untilPrinted("begun");
  const log = join(home.files, "interrupted");
  const steered = await home.ok(["session", "steer", "interrupted", `echo steered >> ${log}`, "--interrupt", "--json"]);
  expect(JSON.parse(steered.stdout)).toMatchObject({ status: "interrupted" });
  expect((await client.result()).code).toBe(1);
  await home.ok(["prompt", "interrupted", "true"]);
  expect(readFileSync(log, "utf8")).toBe("steered\n");
});

it("the shell's own end is a failed turn, and the session goes on", async () => {
  await home.newSession("ending");
  const ended = await home.agent(["prompt", "ending", "exit 3"]);
  expect(ended.code).toBe(1);
  expect((await home.ok(["prompt", "ending", "echo again"])).stdout).toBe("again\n");
});
