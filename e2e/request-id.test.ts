import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { errorCode, parseRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

const newArgs = ["session", "new", "--name", "s", "--json", "--request-id", "new-1"];

let home: Home;
beforeAll(async () => {
  home = await Home.create();
});
afterAll(async () => await home[Symbol.asyncDispose]());

it("I143 the same request id is one session and one command, over kills of supervisor and worker", async () => {
  await using own = await Home.open();
  const log = join(own.files, "log");
  const prompt = ["prompt", "s", `echo ran >> ${log}; echo out`, "--request-id", "prompt-1"];
  const row = parseRow((await own.ok(newArgs)).stdout);
  const same = async (what: string): Promise<void> => {
    const { sessionId } = parseRow((await own.ok(newArgs)).stdout);
    const { code, stdout } = await own.agent(prompt);
    const ran = readFileSync(log, "utf8");
    expect({ what, sessionId, code, stdout, ran }).toEqual({
      what,
      sessionId: row.sessionId,
      code: 0,
      stdout: "out\n",
      ran: "ran\n",
    });
  };
  await same("first");
  await same("again");
  await own.kill(own.daemon());
  await same("after the supervisor's death");
  await own.kill(own.worker(row));
  await same("after the worker's death");
  await own.kill(own.daemon());
  await own.kill(own.worker(row));
  await same("after the death of both");
  expect(await own.list()).toHaveLength(1);
});

it("I143 other content under a used id is refused", async () => {
  await home.ok(newArgs);
  await home.ok(["prompt", "s", "true", "--request-id", "p"]);
  const prompt = await home.agent(["prompt", "s", "echo other", "--request-id", "p", "--json"]);
  expect([prompt.code, errorCode(prompt.stderr), prompt.stdout]).toEqual([5, "request_id_reused", ""]);
  const created = await home.agent(["session", "new", "--name", "t", "--request-id", "new-1", "--json"]);
  expect([created.code, errorCode(created.stderr)]).toEqual([5, "request_id_reused"]);
  expect((await home.list()).map(({ name }) => name)).not.toContain("t");
});

it("I143 a command that was killed in its middle is not run again under its id", async () => {
  await using own = await Home.open();
  const row = await own.newSession("s");
  const log = join(own.files, "log");
  const prompt = ["prompt", "s", `echo ran >> ${log}; sleep 600`, "--request-id", "p"];
  const client = own.start(prompt);
  await waitFor(() => existsSync(log), "the command runs");
  await own.kill(own.worker(row));
  expect((await client.result()).code).toBe(8);
  await own.untilState("s", "ready");
  expect((await own.agent(prompt)).code).toBe(8);
  expect(readFileSync(log, "utf8")).toBe("ran\n");
});

it("I143 the id of a stop and of a follow-up may be repeated", async () => {
  await home.newSession("repeated");
  const log = join(home.files, "log");
  const follow = ["session", "follow-up", "repeated", `echo ran >> ${log}`, "--request-id", "f"];
  await home.ok(follow);
  await home.ok(follow);
  await home.ok(["prompt", "repeated", "true"]);
  expect(readFileSync(log, "utf8")).toBe("ran\n");
  for (let round = 0; round < 2; round += 1) await home.ok(["stop", "repeated", "--request-id", "stop"]);
});
