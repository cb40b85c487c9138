import { ProtocolError } from "@holdfast/client/protocol";
import type { WaitAnswer } from "@holdfast/client/protocol";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

const wait = (...more: readonly string[]): Promise<number> => run(["wait", ...more, "--home", daemon.home], io);
const answer = (sessionId: string, matched: boolean, more: Partial<WaitAnswer> = {}): WaitAnswer => ({
  sessionId,
  matched,
  cursor: "g:1",
  ...more,
});
const lines = (): unknown[] =>
  io.stdout.text
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

const said = (): number => io.stderr.text.split("no daemon runs").length - 1;

/** Answers to one `session/wait` after the other; the last one again and again. */
async function answering(...answers: readonly (readonly WaitAnswer[])[]): Promise<void> {
  let asked = 0;
  await daemon.serve(() => ({ sessions: answers[Math.min(asked++, answers.length - 1)] }));
}

describe("wait", () => {
  it("returns at once when it is already so, for idle if nothing else is said", async () => {
    await answering([answer("s1", true, { lastTurn: { stopReason: "end_turn", exitCode: 3 } })]);
    expect(await wait("build", "--json")).toBe(0);
    expect(lines()).toEqual([
      {
        schemaVersion: 1,
        sessionId: "s1",
        matched: true,
        cursor: "g:1",
        lastTurn: { stopReason: "end_turn", exitCode: 3 },
      },
    ]);
    expect(daemon.asked.map(({ params }) => params)).toEqual([
      { sessions: ["build"], for: "idle", timeoutMs: 0, any: false },
    ]);
  });

  it("waits by id, in slices of 30 s, until all are as asked at the same time", async () => {
    await answering(
      [answer("s1", true), answer("s2", false)],
      [answer("s1", false), answer("s2", true)],
      [answer("s1", true), answer("s2", true)],
    );
    expect(await wait("a", "b", "--for", "stopped")).toBe(0);
    expect(io.stdout.text).toBe("a: stopped\nb: stopped\n");
    expect(daemon.asked.slice(1).map(({ params }) => params)).toEqual([
      { sessions: ["s1", "s2"], for: "stopped", timeoutMs: 30_000, any: false },
      { sessions: ["s1", "s2"], for: "stopped", timeoutMs: 30_000, any: false },
    ]);
  });

  it("--any prints the one that matched, and what it waits for", async () => {
    const waitingFor = { kind: "permission", id: "p", title: "write a.txt", since: "2030-01-01T00:00:00.000Z" };
    await answering([answer("s1", false), answer("s2", false)], [answer("s2", true, { waitingFor })]);
    expect(await wait("a", "b", "--any", "--for", "needs_input")).toBe(0);
    expect(io.stdout.text).toBe("b: waiting for input; permission: write a.txt\n");
    expect(daemon.asked[1]?.params).toMatchObject({ any: true });
  });

  it("over the time prints the answers and exits 8", async () => {
    await answering([answer("s1", true), answer("s2", false)]);
    expect(await wait("a", "b", "--timeout", "20ms", "--json")).toBe(8);
    expect(lines()).toMatchObject([
      { sessionId: "s1", matched: true },
      { sessionId: "s2", matched: false },
    ]);
    expect(JSON.parse(io.stderr.text)).toMatchObject({
      error: { code: "timeout", message: "not idle after 0.02 s: b", hint: "agent session show b", retryable: false },
    });
  });

  it("--timeout 0s asks once", async () => {
    await answering([answer("s1", false)]);
    expect(await wait("a", "--timeout", "0s")).toBe(8);
    expect(io.stdout.text).toBe("a: not idle\n");
    expect(daemon.asked).toHaveLength(1);
  });

  it("passes on that a session is gone, also while it waits", async () => {
    let asked = 0;
    await daemon.serve(() => {
      if (asked++ === 0) return { sessions: [answer("s1", false)] };
      throw new ProtocolError("session_not_found", "no session s1");
    });
    expect(await wait("a")).toBe(4);
  });

  it("Ctrl-C ends it with 130 and without a word", async () => {
    await daemon.serve(() => new Promise(() => {}));
    const waiting = wait("a");
    await until(() => daemon.asked.length > 0);
    io.raise("SIGINT");
    expect(await waiting).toBe(130);
    expect([io.stdout.text, io.stderr.text]).toEqual(["", ""]);
  });
});

describe("without a daemon", () => {
  const id = "01a2aaaa-0000-7000-8000-000000000001";
  const write = (wanted: string): void => {
    const directory = join(daemon.home, "sessions", id);
    mkdirSync(directory, { recursive: true });
    const record = {
      schemaVersion: 1,
      sessionId: id,
      name: "build",
      agent: "shell",
      cwd: "/",
      project: "/",
      wanted,
      parentId: null,
      createdAt: "",
      lastActivityAt: "",
      creatingRequest: { requestId: "r", hash: "h" },
      environment: {},
      secretNames: [],
      options: {},
      lastError: null,
    };
    writeFileSync(join(directory, "session.json"), JSON.stringify(record));
  };

  it("looks at the state directory until it is so, and says once that no daemon runs", async () => {
    write("running");
    const waiting = wait("build", "--for", "stopped", "--json");
    await until(() => said() > 0);
    write("stopped");
    expect(await waiting).toBe(0);
    expect(lines()).toEqual([{ schemaVersion: 1, sessionId: id, matched: true, cursor: "start" }]);
    expect(said()).toBe(1);
  });

  it("goes on with the daemon that comes", async () => {
    write("running");
    const waiting = wait("build");
    await until(() => said() > 0);
    await answering([answer(id, true)]);
    expect(await waiting).toBe(0);
    expect(daemon.asked[0]?.params).toMatchObject({ sessions: [id] });
  });

  it("over the time exits 8, and an unknown session 4", async () => {
    write("running");
    expect(await wait("build", "--timeout", "1ms")).toBe(8);
    expect(io.stdout.text).toBe("build: not idle\n");
    expect(await wait("other", "--timeout", "1ms")).toBe(4);
  });
});

it.each([
  [["wait", "s", "--for", "ready"]],
  [["wait", "s", ""]],
  [["wait", "s", "--timeout", "5"]],
  [["session", "wait"]],
])("%j is a usage error", async (argv) => {
  expect(await run([...argv, "--home", daemon.home], io)).toBe(2);
  expect(io.stderr.text).toMatch(/^error: .+\nhint: .+\n$/);
});
