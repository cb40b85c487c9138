import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { errorCode } from "./support/rows.ts";

it("I147 blanks, unicode and quotes in the home's path work", async () => {
  await using home = await Home.open({ name: `a b ünï 😀 "q' $x` });
  expect(await home.agent(["new", "--name", "s", "--prompt", "echo hi"])).toMatchObject({ code: 0, stdout: "hi\n" });
  expect(await home.list()).toMatchObject([{ name: "s", state: "ready" }]);
  expect((await home.agent(["stop", "s"])).code).toBe(0);
});

const long = `${"d".repeat(95)}/${"e".repeat(95)}`;

it("I147 a home of 200 bytes works through the runtime directory", async () => {
  await using home = await Home.open({ name: long, forceStop: true });
  const runtime = join(home.root, "r");
  mkdirSync(runtime, { mode: 0o700 });
  const env = { XDG_RUNTIME_DIR: runtime };
  const made = await home.agent(["new", "--name", "s", "--prompt", "echo hi"], { env });
  expect(made).toMatchObject({ code: 0, stdout: "hi\n" });
  // Found through the owner record, not through the environment of the one who asks.
  expect((await home.ok(["prompt", "s", "echo again"])).stdout).toBe("again\n");
});

it("I147 where no directory is short enough the command fails at once, naming the limit", async () => {
  await using home = await Home.open({ name: long, forceStop: true });
  const env = { XDG_RUNTIME_DIR: join(home.root, long, "r"), TMPDIR: join(home.root, long, "t") };
  for (const directory of Object.values(env)) mkdirSync(directory, { recursive: true, mode: 0o700 });
  const failed = await home.agent(["session", "new", "--json"], { env });
  expect([failed.code, errorCode(failed.stderr)]).toEqual([2, "path_too_long"]);
  expect(failed.stderr).toContain("107");
  expect(home.processes()).toEqual([]);
});

it("I147 two homes are two daemons; a symlink to a home is the same one", async () => {
  await using home = await Home.open();
  await using other = await Home.open();
  const [one, two] = [await home.newSession("s"), await other.newSession("s")];
  expect(home.daemon().pid).not.toBe(other.daemon().pid);
  expect(one.sessionId).not.toBe(two.sessionId);
  const link = join(home.root, "link");
  symlinkSync(home.path, link);
  const row = JSON.parse((await home.ok(["--home", link, "session", "show", "s", "--json"])).stdout);
  expect(row).toMatchObject({ sessionId: one.sessionId, pid: one.pid });
  await other.ok(["stop", "s"]);
  expect((await home.show("s")).state).toBe("ready");
});
