import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Home } from "../../../e2e/support/home.ts";
import { pause, waitFor } from "../../../e2e/support/wait-for.ts";
import { Terminal } from "./terminal.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_BACKSLASH = "\u001c";
/** More than a repeat of one key press, less than the time in which a second one counts. */
const BETWEEN_PRESSES_MS = 700;

/** Says what a shell around the command got, how the command ended and how it left the terminal. */
const watched = (command: string): string =>
  `trap 'echo shell got INT' INT; trap 'echo shell got QUIT' QUIT; ${command}; echo "status $?"; stty -a; echo over`;

it("attach: Ctrl-C asks only while a turn runs, Ctrl-\\ leaves, and no shell gets either as a signal", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const terminal = new Terminal(home, watched("$AGENT prompt s 'echo earlier'; $AGENT attach s"));
  await terminal.until("> echo earlier\nearlier\n");
  terminal.press(CTRL_C);
  await terminal.until("no turn runs; Ctrl-\\ leaves");
  await home.ok(["prompt", "s", "--no-wait", "echo begun; sleep 600"]);
  await terminal.until("\nbegun\n");
  await pause(BETWEEN_PRESSES_MS);
  terminal.press(CTRL_C);
  await terminal.until("cancel the running turn? [y/N]");
  terminal.press("y");
  await terminal.until("turn cancelled");
  terminal.press(CTRL_BACKSLASH);
  await terminal.until("\nover\n");
  expect(terminal.printed).toContain("status 0\n");
  expect(terminal.printed).not.toContain("shell got");
  expect(terminal.printed).toMatch(/^isig icanon .* echo /m);
});

it("prompt: SIGTERM after a first Ctrl-C is the second one, as a package runner sends it", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const client = home.start(["prompt", "s", "echo begun; sleep 600"]);
  await client.untilPrinted("begun");
  client.signal("SIGINT");
  await client.untilPrinted("detached: the turn goes on");
  await pause(BETWEEN_PRESSES_MS);
  client.signal("SIGTERM");
  await client.untilPrinted("cancelled the turn");
  expect((await client.result()).code).toBe(130);
  await waitFor(async () => (await home.show("s")).activity === "idle", "the turn has ended");
});

it("ps --force-stop: Ctrl-C at the question touches nothing and exits 130", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const terminal = new Terminal(home, "$AGENT ps --force-stop; echo status $?");
  await terminal.until("stop them? [y/N]");
  terminal.press(CTRL_C);
  await terminal.until("nothing was touched\nstatus 130\n");
  expect((await home.show("s")).state).toBe("ready");
});

it("daemon stop: the end of input at the question is a no", async () => {
  await using home = await Home.open();
  await home.newSession("busy");
  await home.newSession("stopped");
  await home.ok(["stop", "stopped"]);
  await home.ok(["prompt", "busy", "--no-wait", "sleep 600"]);
  const terminal = new Terminal(home, "$AGENT daemon stop; echo status $?");
  await terminal.until("interrupt them? [y/N]");
  terminal.press(CTRL_D);
  await terminal.until("\nstatus 5\n");
  expect(terminal.printed).toContain("error: ");
  expect(new Set((await home.list()).map(({ name }) => name))).toEqual(new Set(["busy", "stopped"]));
  expect((await home.show("busy")).activity).toBe("working");
});

it("doctor --repair --json: the end of input is a no to all that would follow", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  await home.ok(["daemon", "stop", "--force"]);
  const folders = ["sessions", "workers"].map((name) => join(home.path, name));
  for (const folder of folders) chmodSync(folder, 0o755);
  const terminal = new Terminal(home, "$AGENT doctor --repair --json; echo status $?");
  await terminal.until("do it? [y/N]");
  terminal.press(CTRL_D);
  await terminal.until("\nstatus 0\n");
  expect(terminal.printed.match(/not agreed to/g)).toHaveLength(2);
  expect(folders.map((folder) => statSync(folder).mode & 0o777)).toEqual([0o755, 0o755]);
});

it("daemon run says on a terminal that it serves, and Ctrl-C ends it alone", async () => {
  await using home = await Home.open();
  const terminal = new Terminal(home, "$AGENT daemon run; echo status $?");
  await terminal.until(`serving ${home.path} (pid `);
  const session = await home.newSession("s");
  terminal.press(CTRL_C);
  await terminal.until("status 0\n");
  expect(home.worker(session).pid).toBe(session.pid);
});

it("a list and the daemon's log fit a terminal, and are whole for programs", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const line = "stty cols 100; $AGENT ls; $AGENT daemon logs; $AGENT ls | cat; $AGENT daemon logs | cat; echo over";
  const terminal = new Terminal(home, `NO_COLOR=1; export NO_COLOR; ${line}`);
  await terminal.until("\nover\n");
  const { sessionId, cwd } = await home.show("s");
  expect(terminal.printed).toMatch(/^SESSION +NAME +AGENT +STATE +DIRECTORY$/m);
  expect(terminal.printed).toMatch(/^[\w-]{36} {2}s +shell +ready +~\/files$/m);
  expect(terminal.printed).toMatch(/^\S+Z info +serving epoch=1 socketPath=/m);
  expect(terminal.printed).toMatch(/^\{"level":30,.*"msg":"serving"\}$/m);
  const listed = await home.ok(["session", "list"]);
  expect(listed.stdout).toBe(`${[sessionId, "s", "shell", "ready", cwd].join("\t")}\n`);
});

it("ps --force-stop --dry-run --json prints its plan in the form of the report", async () => {
  await using home = await Home.open();
  const { sessionId, pid } = await home.newSession("s");
  const { stdout } = await home.ok(["ps", "--force-stop", "--dry-run", "--json"]);
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    stopped: [],
    kept: [],
    failed: [],
    plan: [
      { kind: "daemon", id: expect.any(String), pid: home.daemon().pid },
      { kind: "worker", id: sessionId, pid },
    ],
  });
});

it("a prompt whose reader went away exits 8 and says that the turn goes on", async () => {
  await using home = await Home.open();
  await home.newSession("s");
  const line = "$AGENT prompt s 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done' | head -1; echo ${PIPESTATUS[0]}";
  const result = await home.shell(line);
  expect(result).toMatchObject({
    stdout: "1\n8\n",
    stderr: "the output was closed; the turn goes on (agent attach s)\n",
  });
});
