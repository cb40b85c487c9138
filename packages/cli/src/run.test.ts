import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProtocolError } from "@holdfast/client/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeIo } from "../test/fake-io.ts";
import { ScriptedDaemon } from "../test/scripted-daemon.ts";
import { until } from "../test/until.ts";
import { Invocation } from "./invocation.ts";
import { buildProgram } from "./program.ts";
import { run } from "./run.ts";
import { notYet } from "./usage.ts";
import { pathOf } from "./usage.ts";

let io: FakeIo;
let home: string;
beforeEach(() => {
  io = new FakeIo();
  home = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe("common options", () => {
  it.each([
    [["--json", "--home", "H", "session", "list"]],
    [["session", "--json", "list", "--home", "H"]],
    [["session", "list", "--json", "--home=H"]],
    [["ls", "--limit", "3", "--json", "--home", "H"]],
  ])("stand before or after the command: %j", async (words) => {
    const argv = words.map((word) => word.replace(/H$/, home));
    expect(await run(argv, io)).toBe(0);
    expect(JSON.parse(io.stdout.text)).toEqual({ schemaVersion: 1, sessions: [] });
    expect(io.stderr.text).toContain(`no daemon runs for ${home}`);
  });

  it("--no-autostart keeps a mutation from starting a daemon", async () => {
    expect(await run(["session", "cancel", "s", "--no-autostart"], io.at(home))).toBe(3);
    expect(io.stderr.text).toBe(`error: no daemon runs for ${home}\nhint: agent daemon start\n`);
    expect(readdirSync(home)).toEqual([]);
  });
});

describe("a wrong command line exits 2 in our form and", () => {
  it.each([
    [["session", "lst"], "Did you mean"],
    [["daemon", "stauts"], "Did you mean status?"],
    [["stpo", "x"], "Did you mean stop?"],
    [["session", "list", "--limt", "3"], "Did you mean --limit?"],
    [["prompt", "s", "-la"], "--"],
    [["prompt", "s"], "hint: agent prompt --help"],
    [["session", "stop"], "hint: agent session stop --help"],
    [["session", "frobnicate"], "hint: agent session --help"],
    [["daemon", "frobnicate"], "hint: agent daemon --help"],
    [["show", ""], "Did you mean session show?"],
    [["ls", "--nope"], "hint: agent ls --help"],
    [["ls", "-x"], "hint: agent ls --help"],
    [["prompt", "s", "make", "test"], "hint: put the text in quotes"],
    [["prompt", "s", "--version"], "hint: put -- before text that begins with -"],
    [["session", "steer", "--no-autostart", "--home", "/x", "s", "--help"], "put -- before text that begins with -"],
    [["new", "--prompt", "--version"], "hint: --prompt=--version"],
    [["help", "session", "promt"], "Did you mean prompt?"],
    [["transcript", "s"], "Did you mean session transcript?"],
    [["demo"], "hint: agent demo is not there yet"],
    [["permissions", "answer", "1"], "hint: agent permissions is not there yet"],
    [["trust", "ad", "."], "Did you mean add?"],
    [["daemon", "install"], "hint: agent daemon install is not there yet"],
    [["help", "events"], "hint: agent events is not there yet"],
  ])("%j says what to type", async (argv, hint) => {
    expect(await run(argv, io)).toBe(2);
    expect(io.stderr.text).toMatch(/^error: .+\nhint: .+\n$/);
    expect(io.stderr.text).toContain(hint);
    expect(io.stdout.text).toBe("");
  });

  const later = Object.entries(notYet).flatMap(([group, words]) =>
    words.map((word) => [...group.split(" ").slice(1), word]),
  );
  it.each(later.map((argv) => [argv]))("knows %j of the contract, and has it not yet", async (argv) => {
    expect(await run(argv, io)).toBe(2);
    expect(io.stderr.text).toContain(`hint: agent ${argv.join(" ")} is not there yet`);
  });

  it("is one JSON line with --json, wherever it stands", async () => {
    expect(await run(["--json", "session", "lst"], io)).toBe(2);
    expect(JSON.parse(io.stderr.text)).toMatchObject({ error: { code: "usage", retryable: false, requestId: null } });
  });

  it.each([
    [["session", "show", ""]],
    [["stop", " "]],
    [["new", "--ensure"]],
    [["prompt", "s", "x", "--output", "xml"]],
    [["prompt", "s", "x", "--no-wait", "--timeout", "1s"]],
    [["prompt", "s", "x", "--no-wait", "--exit-code"]],
    [["prompt", "s", "x", "--no-wait", "--output", "text"]],
    [["prompt", "s", "x", "--json", "--output", "final"]],
    [["prompt", "s", "x", "--json", "--output", "text"]],
    [["ls", "--limit", "x"]],
    [["ls", "--cursor", "zzz"]],
    [["new", "--cwd", ""]],
    [["ps", "--dry-run"]],
    [["daemon", "stop", "--force", "--keep-workers"]],
    [["daemon", "status", "--quiet", "--json"]],
    [["attach", "s", "--from", ""]],
    [["session", "transcript", "s", "--from", ""]],
  ])("%j is refused before anything is started", async (argv) => {
    expect([2, 125]).toContain(await run([...argv], io.at(home)));
    expect(io.stderr.text.replace(/^\{.*"code":"usage".*"hint":".+".*\}\n$/, "error: x\nhint: x\n")).toMatch(
      /^error: .+\nhint: .+\n$/,
    );
    expect(readdirSync(home)).toEqual([]);
  });

  it("so does a home that is a file", async () => {
    const path = join(home, "file");
    writeFileSync(path, "");
    expect(await run(["new", "--home", path], io)).toBe(2);
    expect(io.stderr.text).toContain(`error: ${path} is not a directory\n`);
  });

  it("I148 a bad name is invalid_name before anything is started", async () => {
    expect(await run(["new", "--name", "../x", "--json"], io.at(home))).toBe(2);
    expect(JSON.parse(io.stderr.text)).toMatchObject({ error: { code: "invalid_name" } });
    expect(readdirSync(home)).toEqual([]);
  });

  it("nothing at all shows the help on standard error", async () => {
    expect(await run([], io)).toBe(2);
    expect(io.stderr.text).toContain("Examples:");
  });
});

it("--help goes to standard output and exits 0, also into a closed pipe", async () => {
  expect(await run(["session", "new", "--help"], io)).toBe(0);
  expect(io.stdout.text).toContain("--ensure");
  io.stdout.closed = true;
  expect(await run(["--help"], io)).toBe(0);
});

it.each([
  [["help", "session", "prompt"], "Usage: agent session prompt"],
  [["daemon", "help", "stop"], "Usage: agent daemon stop"],
  [["session", "help", "ls"], "Usage: agent session list"],
  [["help"], "Usage: agent [options]"],
])("%j prints that verb's help", async (argv, text) => {
  expect(await run(argv, io)).toBe(0);
  expect(io.stdout.text).toContain(text);
});

it("the help of every verb has examples, and no option has an empty list for its default", async () => {
  const groups = [buildProgram(new Invocation(io))];
  for (let group = groups.shift(); group; group = groups.shift()) {
    groups.push(...group.commands.filter((command) => command.name() !== "help"));
    const words = pathOf(group).split(" ").slice(1);
    const own = new FakeIo();
    expect(await run([...words, "--help"], own)).toBe(0);
    expect(own.stdout.text).toContain("Examples:\n  agent ");
    expect(own.stdout.text).not.toContain("default: []");
  }
});

it("a list without sessions says so on standard error alone", async () => {
  expect(await run(["ls"], io.at(home))).toBe(0);
  expect(io.stdout.text).toBe("");
  expect(io.stderr.text).toContain("no sessions\n");
});

it("version names all that decides about compatibility", async () => {
  expect(await run(["version", "--json"], io)).toBe(0);
  const { schemaVersion, ...answer } = JSON.parse(io.stdout.text);
  expect(schemaVersion).toBe(1);
  expect(Object.keys(answer)).toEqual(["version", "protocol", "schemaRevision", "node", "platform", "backend"]);
});

describe("without a daemon", () => {
  it("daemon stop is done, and daemon status exits 3", async () => {
    expect(await run(["daemon", "stop"], io.at(home))).toBe(0);
    expect(await run(["daemon", "status"], io.at(home))).toBe(3);
  });

  it("an unknown session exits 4", async () => {
    expect(await run(["session", "show", "nope"], io.at(home))).toBe(4);
  });
});

describe("with a daemon", () => {
  let daemon: ScriptedDaemon;
  beforeEach(() => {
    daemon = new ScriptedDaemon();
  });
  afterEach(() => daemon.remove());

  it("I151 a list into a closed pipe exits 0 quietly", async () => {
    await daemon.serve(() => ({
      sessions: [{ sessionId: "s", name: null, agent: "shell", cwd: "/", state: "ready", activity: "idle" }],
    }));
    io.stdout.closed = true;
    expect(await run(["ls"], io.at(daemon.home))).toBe(0);
    expect(io.stderr.text).toBe("");
  });

  it("stop --no-wait prints the row and exits 8 while it is stopping", async () => {
    await daemon.serve(() => ({ sessionId: "s", name: null, state: "stopping", killAt: "2030-01-01T00:00:07.000Z" }));
    expect(await run(["stop", "s", "--no-wait", "--json"], io.at(daemon.home))).toBe(8);
    expect(JSON.parse(io.stdout.text)).toMatchObject({ schemaVersion: 1, killAt: "2030-01-01T00:00:07.000Z" });
    expect(JSON.parse(io.stderr.text)).toMatchObject({ error: { code: "stopping" } });
  });

  it("sends a new session what the contract says, secrets apart, under the given request id", async () => {
    Object.assign(io.env, { HOME: "/h", SECRET: "s", OTHER: "o" });
    await daemon.serve(() => ({
      sessionId: "s",
      name: "n",
      state: "ready",
      agent: "shell",
      cwd: "/work/d",
      created: true,
    }));
    const argv = ["new", "--name", "n", "--cwd", "d", "--env", "SECRET", "--env", "K=V", "--request-id", "r"];
    expect(await run([...argv], io.at(daemon.home))).toBe(0);
    expect(daemon.asked[0]?.params).toEqual({
      requestId: "r",
      cwd: "/work/d",
      name: "n",
      environment: { HOME: "/h" },
      secretEnvironment: { SECRET: "s", K: "V" },
    });
    expect(io.stdout.text).toContain("session s (n) is ready: shell in /work/d");
  });

  it("--ensure with another directory or agent says which one the session has", async () => {
    await daemon.serve(() => {
      throw new ProtocolError("name_in_use", "in use", { data: { sessionId: "s", cwd: "/their dir", agent: "echo" } });
    });
    expect(await run(["new", "--name", "n", "--ensure"], io.at(daemon.home))).toBe(5);
    expect(io.stderr.text).toContain("error: the session n has another directory or agent: echo in /their dir\n");
    expect(io.stderr.text).toContain("--agent echo --cwd '/their dir' takes it");
  });

  it.each([
    ["working", "cancelled the turn\n"],
    ["idle", "no turn runs\n"],
  ])("cancel of a session that is %s says what it did", async (activity, text) => {
    await daemon.serve(() => ({ sessionId: "s", name: null, state: "ready", activity }));
    expect(await run(["session", "cancel", "s"], io.at(daemon.home))).toBe(0);
    expect(io.stdout.text).toBe(text);
    expect(daemon.asked.map(({ method }) => method)).toContain("session/cancel");
  });

  it("I151 --from that is no cursor is told at once and asked once", async () => {
    await daemon.serve(({ method }) => {
      if (method === "session/attach") throw new ProtocolError("usage", "not a cursor: bogus", { hint: "x" });
      return { sessionId: "s" };
    });
    for (const verb of [["attach"], ["session", "transcript"]])
      expect(await run([...verb, "s", "--from", "bogus"], io.at(daemon.home))).toBe(2);
    expect(io.stderr.text).toBe("error: not a cursor: bogus\nhint: x\n".repeat(2));
    expect(daemon.asked.filter(({ method }) => method === "session/attach")).toHaveLength(2);
  });

  it("Ctrl-C at a question leaves everything untouched and exits 130", async () => {
    const terminal = new FakeIo({ terminal: true });
    await daemon.serve(() => {
      throw new ProtocolError("daemon_busy", "sessions are working: s");
    });
    terminal.line = new Promise(() => {});
    const stopping = run(["daemon", "stop", "--home", daemon.home], terminal);
    await until(() => terminal.stderr.text.includes("interrupt them?"));
    terminal.raise("SIGINT");
    expect(await stopping).toBe(130);
    expect(terminal.stderr.text).toMatch(/interrupt them\? \[y\/N\] \nnothing was touched\n$/);
    expect(daemon.asked).toHaveLength(1);
  });
});
