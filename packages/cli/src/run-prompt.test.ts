import { ProtocolError } from "@holdfast/client/protocol";
import type { EventBody, StopReason } from "@holdfast/client/protocol";
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

const started: EventBody = { type: "turn_started", turnId: "t", actionId: "a" };
const output = (stream: "stdout" | "stderr", text: string): EventBody => ({
  type: "output",
  stream,
  text,
  turnId: "t",
});
const ended = (stopReason: StopReason, exitCode?: number): EventBody => ({
  type: "turn_ended",
  turnId: "t",
  actionId: "a",
  stopReason,
  ...(exitCode === undefined ? {} : { exitCode }),
});

/** A daemon that accepts any prompt and then sends these events. */
async function answering(events: readonly EventBody[], onAttached: () => void = () => {}): Promise<void> {
  await daemon.serve(({ method, peer }) => {
    if (method === "session/prompt") return { actionId: "a", status: "accepted", requestId: "r", cursor: "c0" };
    if (method === "session/attach")
      setImmediate(() => {
        daemon.send(peer, ...events);
        onAttached();
      });
    return { sessionId: "s" };
  });
}
const message = (text: string): EventBody => ({ type: "message", text });
const cancels = (): number => daemon.asked.filter(({ method }) => method === "session/cancel").length;
const prompt = (...more: readonly string[]): Promise<number> =>
  run(["prompt", "s", "x", "--home", daemon.home, "--request-id", "r", ...more], io);

describe("prompt", () => {
  it("I150 writes the output to the stream it was written to and exits 0", async () => {
    const bytes = Buffer.from([0xff, 0x0d]).toString("base64");
    await answering([
      started,
      output("stderr", "e"),
      output("stdout", "o\u2028"),
      { type: "output", stream: "stdout", text: "?", bytes, turnId: "t" },
      ended("end_turn", 0),
    ]);
    expect(await prompt()).toBe(0);
    expect(io.stdout.bytes).toEqual(Buffer.concat([Buffer.from("o\u2028"), Buffer.from([0xff, 0x0d])]));
    expect(io.stderr.text).toBe("e");
  });

  it("I143 exits 8 when it was accepted and its answer cannot be followed: it must not be sent again", async () => {
    await daemon.serve(({ method }) => {
      if (method === "session/attach") throw new ProtocolError("too_many_open_files", "none left");
      return { actionId: "a", status: "accepted", requestId: "r", cursor: "c0" };
    });
    expect(await prompt("--json")).toBe(8);
    const { error }: { error: { code: string; retryable: boolean } } = JSON.parse(io.stderr.text);
    expect([error.code, error.retryable]).toEqual(["timeout", false]);
  });

  it("exits 1 for a command with another status, and says which and how to pass it on", async () => {
    await answering([started, ended("end_turn", 3)]);
    expect(await prompt()).toBe(1);
    expect(io.stderr.text).toBe("error: the command ended with status 3\nhint: --exit-code passes the status on\n");
  });

  it("new --prompt, which has no such option, gives no such hint", async () => {
    await answering([started, ended("end_turn", 3)]);
    expect(await run(["new", "--prompt", "x", "--home", daemon.home], io)).toBe(1);
    expect(io.stderr.text).toBe("error: the command ended with status 3\n");
  });

  it("--exit-code passes the status on, and our own failures become 125", async () => {
    await answering([started, ended("end_turn", 3)]);
    expect(await prompt("--exit-code")).toBe(3);
    expect(io.stderr.text).toBe("");
    expect(await prompt("--exit-code", "--timeout", "never")).toBe(125);
  });

  it("--json prints its own events and says the failure once more, for programs", async () => {
    await answering([started, output("stdout", "o"), ended("end_turn", 3), output("stdout", "late")]);
    expect(await prompt("--json")).toBe(1);
    const types = io.stdout.text
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line).type);
    expect(types).toEqual(["turn_started", "output", "turn_ended"]);
    expect(JSON.parse(io.stderr.text)).toMatchObject({ error: { code: "command_failed", requestId: "r" } });
  });

  it.each<[StopReason, number]>([
    ["cancelled", 1],
    ["refused", 1],
    ["limited", 1],
    ["failed", 1],
    ["interrupted", 8],
  ])("a turn that was %s exits %i", async (reason, exit) => {
    await answering([started, ended(reason)]);
    expect(await prompt()).toBe(exit);
  });

  it("an interrupted turn has a hint", async () => {
    await answering([started, ended("interrupted")]);
    await prompt();
    expect(io.stderr.text).toContain("hint: agent session transcript s shows how far it came\n");
  });

  it("a reused request id has a hint, also where the daemon gave none", async () => {
    await daemon.serve(() => {
      throw new ProtocolError("request_id_reused", "the request id was used for another request");
    });
    expect(await prompt()).toBe(5);
    expect(io.stderr.text).toContain("hint: use a new --request-id, or none\n");
  });

  it("values missing from the environment: the hint is a command that works as it stands", async () => {
    await daemon.serve(() => {
      const data = { names: ["KEY", "TOKEN"] };
      throw new ProtocolError("needs_fresh_environment", "missing", { hint: "agent session resume S --env KEY", data });
    });
    expect(await prompt()).toBe(6);
    expect(io.stderr.text).toContain("hint: agent session resume s --env KEY=VALUE --env TOKEN=VALUE\n");
  });

  it("--output final holds the answer back and leaves out what came before a tool", async () => {
    const tool: EventBody = { type: "tool", toolCallId: "1", title: "read", status: "completed" };
    await answering([started, message("let me see"), tool, message("it is "), message("so"), ended("end_turn")]);
    expect(await prompt("--output", "final")).toBe(0);
    expect(io.stdout.text).toBe("it is so");
  });

  it("--timeout leaves the turn alone and exits 8", async () => {
    await answering([started]);
    expect(await prompt("--timeout", "1s")).toBe(8);
    expect(io.stderr.text).toContain("the turn goes on");
    expect(daemon.asked.map(({ method }) => method)).not.toContain("session/cancel");
  });

  it("I151 a closed output detaches with one line", async () => {
    io.stdout.closed = true;
    await answering([started, output("stdout", "o")]);
    expect(await prompt()).toBe(8);
    expect(io.stderr.text).toBe("the output was closed; the turn goes on (agent attach s)\n");
  });
});

describe("Ctrl-C before the answer", () => {
  it.each([
    ["prompt", ["prompt", "s", "x"], "prompt"],
    ["prompt --no-wait", ["prompt", "s", "x", "--no-wait"], "prompt"],
    ["steer", ["session", "steer", "s", "x"], "steer"],
    ["follow-up", ["session", "follow-up", "s", "x"], "follow-up"],
  ])("of %s says that it may have been accepted, and how to repeat it", async (_name, argv, verb) => {
    await daemon.serve(() => new Promise(() => {}));
    const prompting = run([...argv, "--home", daemon.home, "--request-id", "r"], io);
    await until(() => daemon.asked.length > 0);
    io.raise("SIGINT");
    expect(await prompting).toBe(130);
    expect(io.stderr.text).toBe(
      `whether it was accepted is not known; agent session ${verb} s TEXT --request-id r takes effect once\n`,
    );
  });

  it("of new --prompt names the prompt's own id", async () => {
    await daemon.serve(({ method }) =>
      method === "session/new" ? { sessionId: "s", state: "ready" } : new Promise(() => {}),
    );
    const prompting = run(["new", "--prompt", "x", "--home", daemon.home, "--request-id", "r"], io);
    await until(() => daemon.asked.length > 1);
    io.raise("SIGINT");
    expect(await prompting).toBe(130);
    expect(io.stderr.text).toContain("agent session prompt s TEXT --request-id r.prompt takes effect once\n");
  });
});

describe("Ctrl-C", () => {
  it("detaches; one that a package runner passes on at once is the same", async () => {
    await answering([started], () => {
      io.raise("SIGINT");
      io.time = 499;
      io.raise("SIGINT");
    });
    expect(await prompt()).toBe(130);
    expect(io.stderr.text).toContain("detached: the turn goes on");
    expect(cancels()).toBe(0);
  });

  it("a second time within 2 s cancels that turn", async () => {
    await answering([started], () => {
      io.raise("SIGINT");
      io.time = 600;
      io.raise("SIGINT");
    });
    expect(await prompt()).toBe(130);
    expect(cancels()).toBe(1);
    expect(daemon.asked.at(-1)?.params).toMatchObject({ actionId: "a", requestId: "r.cancel" });
  });

  it("a second time that a package runner makes a SIGTERM of cancels it as well", async () => {
    await answering([started], () => {
      io.raise("SIGINT");
      io.time = 400;
      io.raise("SIGTERM");
      expect(cancels()).toBe(0);
      io.time = 600;
      io.raise("SIGTERM");
    });
    expect(await prompt()).toBe(130);
    expect(cancels()).toBe(1);
  });

  it("a SIGTERM passed on with the first one is the same key press", async () => {
    await answering([started], () => {
      io.raise("SIGINT");
      io.time = 499;
      io.raise("SIGTERM");
    });
    expect(await prompt()).toBe(130);
    expect(cancels()).toBe(0);
  });

  it("a SIGTERM without a first one is not taken: it ends the command and not the turn", async () => {
    let taken: boolean | null = null;
    await answering([started], () => {
      taken = io.raise("SIGTERM");
      io.raise("SIGINT");
    });
    expect(await prompt()).toBe(130);
    expect(taken).toBe(false);
  });
});
