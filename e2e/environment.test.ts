import { randomBytes } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { everyProcess } from "./support/processes.ts";
import { errorCode } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

/** Files of the home that contain the text. */
const filesWith = (directory: string, text: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(text));

it("I152 I153 a session's environment is the documented list and the marker", async () => {
  await using home = await Home.open();
  const env = {
    SHELL: "/bin/bash",
    USER: "someone",
    LOGNAME: "someone",
    LC_ALL: "C.UTF-8",
    LC_TIME: "C",
    TZ: "Asia/Tokyo",
    TERM: "dumb",
    SSL_CERT_FILE: "/none.pem",
    NODE_EXTRA_CA_CERTS: "",
    npm_config_registry: "https://registry.invalid/",
    npm_config_fund: "false",
  };
  const secret = {
    AWS_SECRET: "no",
    OPENAI_API_KEY: "no",
    NODE_OPTIONS: "--no-warnings",
    BASH_ENV: "/none",
    LD_LIBRARY_PATH: "/none",
    npm_config__authToken: "no",
    npm_config_some_password: "no",
    HOLDFAST_SESSION: "of-another",
    HOLDFAST_TOKEN: "no",
  };
  const { stdout } = await home.ok(
    ["new", "--env", "GIVEN=1", "--prompt", "env -0 | sed -z 's/=.*//' | tr '\\0' '\\n'"],
    {
      env: { ...env, ...secret },
    },
  );
  const ofBash = ["_", "PWD", "SHLVL", "OLDPWD"];
  const names = stdout.split("\n").filter((name) => name !== "" && !ofBash.includes(name));
  const base = ["PATH", "HOME", "LANG", "TMPDIR", "XDG_CONFIG_HOME", "GIVEN", "HOLDFAST_SESSION"];
  expect(names.toSorted()).toEqual([...base, ...Object.keys(env)].toSorted());
  expect((await home.ok(["new", "--prompt", "echo $HOLDFAST_SESSION"], { env: secret })).stdout).not.toContain(
    "another",
  );
});

it("I152 the value of --env is in no file of the home and in no command line", async () => {
  await using home = await Home.open();
  const secret = randomBytes(16).toString("hex");
  const env = { API_KEY: secret };
  const row = JSON.parse(
    (await home.ok(["session", "new", "--name", "s", "--env", "API_KEY", "--json"], { env })).stdout,
  );
  expect((await home.ok(["prompt", "s", "echo ${#API_KEY}"])).stdout).toBe("32\n");
  expect(JSON.stringify(row)).not.toContain(secret);
  await home.kill(home.worker(row));
  expect((await home.ok(["prompt", "s", "echo ${#API_KEY}"])).stdout).toBe("32\n");
  await home.ok(["daemon", "restart"]);
  expect(filesWith(home.path, secret)).toEqual([]);
  expect(everyProcess().filter(({ command }) => command.includes(secret))).toEqual([]);
});

it("I152 prompts and worker tokens are in no command line, and no token in an environment of a session", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s");
  const word = randomBytes(8).toString("hex");
  await home.ok(["prompt", "s", "-"], { input: `: ${word}; sleep 5 & env > ${home.files}/env` });
  const { process: recorded } = JSON.parse(readFileSync(home.descriptorPath(row.sessionId), "utf8"));
  const commands = everyProcess().map(({ command }) => command);
  expect(commands.filter((command) => command.includes(word) || command.includes(recorded.token))).toEqual([]);
  expect(readFileSync(join(home.files, "env"), "utf8")).not.toContain(recorded.token);
  expect(filesWith(home.path, word).every((path) => path.endsWith("transcript.jsonl"))).toBe(true);
});

it("I59 values that were kept in memory alone are asked for after the death of daemon and worker", async () => {
  await using home = await Home.open();
  const row = await home.newSession("s", "--env", "API_KEY=one");
  await home.newSession("plain");
  await home.kill(home.daemon());
  await home.kill(home.worker(row));
  await home.ok(["daemon", "start"]);
  const failed = await home.untilState("s", "failed");
  expect(failed.reason).toMatch(/needs_fresh_environment|API_KEY/);
  const without = await home.agent(["session", "resume", "s", "--json"]);
  expect([without.code, errorCode(without.stderr)]).toEqual([6, "needs_fresh_environment"]);
  expect(without.stderr).toContain("API_KEY");
  expect((await home.show("plain")).state).toBe("ready");
  await home.ok(["session", "resume", "s", "--env", "API_KEY=two"]);
  expect((await home.ok(["prompt", "s", "echo $API_KEY"])).stdout).toBe("two\n");
});

it("I153 a session started from inside a session is ordinary: stopping the outer one leaves it and the daemon", async () => {
  await using home = await Home.open();
  await home.newSession("outer");
  await home.ok(["prompt", "outer", `HOLDFAST_HOME='${home.path}' ${home.shellCommand} new --name inner`]);
  const inner = await home.show("inner");
  await home.ok(["stop", "outer"]);
  await waitFor(async () => (await home.show("outer")).state === "stopped", "outer is stopped");
  expect(await home.show("inner")).toMatchObject({ state: "ready", pid: inner.pid });
});

it("I153 stopping the session from which the daemon was started leaves the daemon and the other home's session", async () => {
  await using home = await Home.open();
  await home.newSession("outer");
  const nested = join(home.root, "n");
  await home.ok(["prompt", "outer", `${home.shellCommand} --home '${nested}' new --name inner`]);
  await home.ok(["stop", "outer"]);
  const list = await home.ok(["--home", nested, "session", "list", "--json"]);
  expect(JSON.parse(list.stdout).sessions).toMatchObject([{ name: "inner", state: "ready" }]);
  await home.ok(["--home", nested, "ps", "--force-stop", "--yes"]);
});
