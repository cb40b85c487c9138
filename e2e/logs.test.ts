import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";

it("I150 logs are what the agent wrote, byte for byte, on its own streams, with and without a daemon", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  await home.ok(["prompt", "s", "printf 'a\\xff\\r\\n'; printf 'err' >&2"]);
  const expected = Buffer.concat([Buffer.from("a"), Buffer.from([0xff]), Buffer.from("\r\n")]);
  const live = await home.ok(["logs", "s"]);
  expect([live.stdoutBytes, live.stderr]).toEqual([expected, "err"]);
  await home.ok(["daemon", "stop"]);
  const offline = await home.ok(["session", "logs", "s"]);
  expect(offline.stdoutBytes).toEqual(expected);
  expect(offline.stderr).toMatch(/^no daemon runs for .+\nerr$/);
}, 60_000);

it("logs -f goes on until Ctrl-C, which is exit 130 and stops nothing", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const following = home.start(["logs", "s", "-f"]);
  await home.ok(["prompt", "s", "echo one"]);
  await following.untilPrinted("one\n");
  following.signal("SIGINT");
  expect(await following.result()).toMatchObject({ code: 130, stdout: "one\n", stderr: "" });
  expect((await home.show("s")).state).toBe("ready");
}, 60_000);

it("logs --source worker shows what its worker wrote to standard error, while the daemon is frozen too", async () => {
  await using home = await Home.open();
  const { sessionId } = await home.newSession("s");
  home.freeze(home.daemon());
  expect((await home.ok(["logs", "s", "--source", "worker"])).stdout).toBe("");
  appendFileSync(join(home.path, "logs", `worker-${sessionId}.err`), "said\n");
  expect((await home.ok(["logs", "s", "--source", "worker"])).stdout).toBe("said\n");
}, 60_000);
