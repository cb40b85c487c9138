import { ProtocolError } from "@holdfast/client/protocol";
import { readdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeIo } from "../test/fake-io.ts";
import { ScriptedDaemon } from "../test/scripted-daemon.ts";
import { until } from "../test/until.ts";
import { run } from "./run.ts";

let daemon: ScriptedDaemon;
let io: FakeIo;
beforeEach(() => {
  daemon = new ScriptedDaemon();
  io = new FakeIo();
});
afterEach(() => daemon.remove());

const row = { sessionId: "s1", name: "build", agent: "shell", state: "stopped", activity: "idle", lifecycle: "live" };
const session = (...argv: readonly string[]): Promise<number> =>
  run(["session", ...argv, "--request-id", "r"], io.at(daemon.home));
const asked = (): unknown[] => daemon.asked.map(({ method, params }) => [method, params]);

describe("a verb sends its request under the given id and prints the row", () => {
  it.each<[readonly string[], string, object]>([
    [["archive", "build"], "session/stop", { archive: true, wait: true }],
    [["unarchive", "build"], "session/unarchive", {}],
    [["retry", "build"], "session/retry", {}],
    [["passivate", "build"], "session/passivate", {}],
    [["rename", "build", "release"], "session/rename", { name: "release" }],
    [
      ["set", "build", "model=small", "mode=a=b", "empty="],
      "session/set",
      {
        options: { model: "small", mode: "a=b", empty: "" },
      },
    ],
    [["delete", "build", "--yes"], "session/delete", {}],
  ])("%j", async (argv, method, more) => {
    await daemon.serve(() => row);
    expect(await session(...argv)).toBe(0);
    expect(["s1 build: stopped\n", "deleted s1 build\n"]).toContain(io.stdout.text);
    expect(asked()).toEqual([[method, { session: "build", requestId: "r", ...more }]]);
    expect(await session(...argv, "--json")).toBe(0);
    expect(JSON.parse(io.stdout.text.split("\n")[1] ?? "")).toEqual({ schemaVersion: 1, ...row });
  });
});

describe("archive", () => {
  it("exits 8 while the session is still stopping, as stop does", async () => {
    await daemon.serve(() => ({ ...row, state: "stopping" }));
    expect(await session("archive", "build")).toBe(8);
    expect(io.stderr.text).toContain("hint: agent session show build\n");
  });

  it("goes on after Ctrl-C and says so", async () => {
    await daemon.serve(() => new Promise(() => {}));
    const archiving = session("archive", "build");
    await until(() => daemon.asked.length > 0);
    io.raise("SIGINT");
    expect(await archiving).toBe(130);
    expect(io.stderr.text).toBe("not waiting any longer: the stop goes on\n");
  });
});

describe("a wrong word is refused before anything is started:", () => {
  it.each([
    [["rename", "build", "../x"], "invalid_name"],
    [["rename", "build", ""], "invalid_name"],
    [["set", "build"], "usage"],
    [["set", "build", "model"], "usage"],
    [["set", "build", "=small"], "usage"],
    [["set", "build", "a=1", "b=2", "a=3"], "usage"],
    [["unarchive", ""], "usage"],
    [["tree", ""], "usage"],
    [["logs", "build", "--source", "daemon"], "usage"],
  ])("%j is %s", async (argv, code) => {
    expect(await session(...argv, "--json")).toBe(2);
    expect(JSON.parse(io.stderr.text)).toMatchObject({ error: { code } });
    expect(readdirSync(daemon.home)).toEqual([]);
  });
});

describe("delete", () => {
  it("asks, naming the session and what goes with it, and deletes that very one", async () => {
    const terminal = new FakeIo({ terminal: true });
    terminal.line = Promise.resolve("y");
    await daemon.serve(() => row);
    expect(await run(["session", "delete", "bui", "--request-id", "r"], terminal.at(daemon.home))).toBe(0);
    expect(terminal.stderr.text).toBe("delete session build (s1) with its transcript? [y/N] ");
    expect(terminal.stdout.text).toBe("deleted s1 build\n");
    expect(asked()).toEqual([
      ["session/show", { session: "bui" }],
      ["session/delete", { session: "s1", requestId: "r" }],
    ]);
  });

  it.each([
    ["any other answer", new FakeIo({ terminal: true })],
    ["no terminal", new FakeIo()],
  ])("with %s touches nothing and exits 2", async (_name, asking) => {
    asking.line = Promise.resolve("n");
    await daemon.serve(() => row);
    expect(await run(["session", "delete", "build"], asking.at(daemon.home))).toBe(2);
    expect(asking.stderr.text).toContain("error: nothing was touched");
    expect(asking.stderr.text).toContain("hint: agent session delete build --yes\n");
    expect(daemon.asked.map(({ method }) => method)).toEqual(["session/show"]);
  });

  it("a hint means the same home as what was typed", async () => {
    await daemon.serve(() => row);
    const asking = new FakeIo();
    expect(await run(["session", "delete", "build", "--home", daemon.home], asking)).toBe(2);
    expect(asking.stderr.text).toContain(`hint: agent --home ${daemon.home} session delete build --yes\n`);
  });

  it("of an unknown session exits 4 before any question, also without a daemon, and starts none", async () => {
    const terminal = new FakeIo({ terminal: true });
    const argv = ["session", "delete", "nope", "--home", daemon.home];
    expect(await run(argv, terminal)).toBe(4);
    expect(readdirSync(daemon.home)).toEqual([]);
    await daemon.serve(() => {
      throw new ProtocolError("session_not_found", "no session nope");
    });
    expect(await run(argv, terminal)).toBe(4);
    expect(terminal.stderr.text).not.toContain("[y/N]");
  });
});

describe("a session that fails again", () => {
  it.each(["resume", "retry"])("%s is not told to do the same again", async (verb) => {
    await daemon.serve(() => {
      throw new ProtocolError("session_failed", "its journal is damaged", { hint: "agent session resume s1" });
    });
    expect(await session(verb, "build")).toBe(6);
    expect(io.stderr.text).toBe("error: its journal is damaged\nhint: agent session logs build --source worker\n");
  });

  it.each(["resume", "retry"])("%s is told of the doctor where only that helps", async (verb) => {
    await daemon.serve(() => {
      throw new ProtocolError("session_failed", "its journal is damaged", { hint: "agent doctor" });
    });
    expect(await session(verb, "build")).toBe(6);
    expect(io.stderr.text).toContain("hint: agent doctor\n");
  });

  it("a prompt to it is", async () => {
    await daemon.serve(() => {
      throw new ProtocolError("session_failed", "failed", { hint: "agent session resume" });
    });
    expect(await session("prompt", "build", "x")).toBe(6);
    expect(io.stderr.text).toContain("hint: agent session resume\n");
  });

  it("a retry of a stopped session is still told to resume it", async () => {
    await daemon.serve(() => {
      throw new ProtocolError("session_stopped", "the session is stopped", { hint: "agent session resume s1" });
    });
    expect(await session("retry", "build")).toBe(5);
    expect(io.stderr.text).toContain("hint: agent session resume s1\n");
  });

  it("other refusals keep their own hint", async () => {
    await daemon.serve(() => {
      throw new ProtocolError("worker_still_stopping", "still", { hint: "try again in a few seconds" });
    });
    expect(await session("resume", "build")).toBe(6);
    expect(io.stderr.text).toContain("hint: try again in a few seconds\n");
  });
});

describe("tree", () => {
  const child = { ...row, sessionId: "s2", name: null, cwd: "/work/sub", children: [] };
  const tree = { sessions: [{ ...row, cwd: "/work", children: [child] }] };

  it("indents children below their session", async () => {
    const terminal = new FakeIo({ terminal: true });
    terminal.env["NO_COLOR"] = "1";
    await daemon.serve(() => tree);
    expect(await run(["session", "tree"], terminal.at(daemon.home))).toBe(0);
    expect(terminal.stdout.text).toBe(
      [
        "SESSION  STATE    AGENT  DIRECTORY",
        "build    stopped  shell  /work",
        "  s2     stopped  shell  /work/sub",
        "",
      ].join("\n"),
    );
  });

  it("of one session asks for that one, and --json is the answer as it is", async () => {
    await daemon.serve(() => tree);
    expect(await run(["session", "tree", "build", "--json"], io.at(daemon.home))).toBe(0);
    expect(JSON.parse(io.stdout.text)).toEqual({ schemaVersion: 1, ...tree });
    expect(asked()).toEqual([["session/tree", { session: "build" }]]);
  });

  it("works without a daemon", async () => {
    expect(await run(["session", "tree", "--json"], io.at(daemon.home))).toBe(0);
    expect(JSON.parse(io.stdout.text)).toEqual({ schemaVersion: 1, sessions: [] });
  });
});
