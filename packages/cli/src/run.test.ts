import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeIo } from "../test/fake-io.ts";
import { ScriptedDaemon } from "../test/scripted-daemon.ts";
import { run } from "./run.ts";

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
    expect(await run(["session", "cancel", "s", "--no-autostart", "--home", home], io)).toBe(3);
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
    [["prompt", "s"], "agent help"],
    [["show", ""], "Did you mean"],
  ])("%j says what to type", async (argv, hint) => {
    expect(await run(argv, io)).toBe(2);
    expect(io.stderr.text).toMatch(/^error: .+\nhint: .+\n$/);
    expect(io.stderr.text).toContain(hint);
    expect(io.stdout.text).toBe("");
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
  ])("%j is refused before anything is started", async (argv) => {
    expect(await run([...argv, "--home", home], io)).toBe(2);
    expect(readdirSync(home)).toEqual([]);
  });

  it("I148 a bad name is invalid_name before anything is started", async () => {
    expect(await run(["new", "--name", "../x", "--json", "--home", home], io)).toBe(2);
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

it("version names all that decides about compatibility", async () => {
  expect(await run(["version", "--json"], io)).toBe(0);
  const { schemaVersion, ...answer } = JSON.parse(io.stdout.text);
  expect(schemaVersion).toBe(1);
  expect(Object.keys(answer)).toEqual(["version", "protocol", "schemaRevision", "node", "platform", "backend"]);
});

describe("without a daemon", () => {
  it("daemon stop is done, and daemon status exits 3", async () => {
    expect(await run(["daemon", "stop", "--home", home], io)).toBe(0);
    expect(await run(["daemon", "status", "--home", home], io)).toBe(3);
  });

  it("an unknown session exits 4", async () => {
    expect(await run(["session", "show", "nope", "--home", home], io)).toBe(4);
  });
});

describe("with a daemon", () => {
  let daemon: ScriptedDaemon;
  beforeEach(() => {
    daemon = new ScriptedDaemon();
  });
  afterEach(() => daemon.remove());

  it("I151 a list into a closed pipe exits 0 quietly", async () => {
    await daemon.serve(() => ({ sessions: [] }));
    io.stdout.closed = true;
    expect(await run(["ls", "--home", daemon.home], io)).toBe(0);
    expect(io.stderr.text).toBe("");
  });

  it("stop --no-wait prints the row and exits 8 while it is stopping", async () => {
    await daemon.serve(() => ({ sessionId: "s", name: null, state: "stopping", killAt: "2030-01-01T00:00:07.000Z" }));
    expect(await run(["stop", "s", "--no-wait", "--json", "--home", daemon.home], io)).toBe(8);
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
    expect(await run([...argv, "--home", daemon.home], io)).toBe(0);
    expect(daemon.asked[0]?.params).toEqual({
      requestId: "r",
      cwd: "/work/d",
      name: "n",
      environment: { HOME: "/h" },
      secretEnvironment: { SECRET: "s", K: "V" },
    });
    expect(io.stdout.text).toContain("session s (n) is ready: shell in /work/d");
  });
});
