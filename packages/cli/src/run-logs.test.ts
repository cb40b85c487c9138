import type { EventBody } from "@holdfast/client/protocol";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
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

const logs = (...more: readonly string[]): Promise<number> => run(["logs", ...more], io.at(daemon.home));

describe("what the agent said", () => {
  const events: readonly EventBody[] = [
    { type: "prompt_accepted", actionId: "a", kind: "prompt", text: "x", requestId: "r" },
    { type: "turn_started", turnId: "t", actionId: "a" },
    { type: "thought", text: "hm" },
    { type: "output", stream: "stdout", text: "out" },
    { type: "output", stream: "stdout", text: "?", bytes: Buffer.from([0xff]).toString("base64") },
    { type: "output", stream: "stderr", text: "err\n" },
    { type: "tool", toolCallId: "1", title: "read", status: "completed" },
    { type: "message", text: "said" },
    { type: "turn_ended", turnId: "t", actionId: "a", stopReason: "end_turn", exitCode: 3 },
    { type: "state", state: "stopped" },
  ];
  const serve = (ended: boolean): Promise<void> =>
    daemon.serve(({ method, peer }) => {
      if (method === "session/attach")
        setImmediate(() => {
          daemon.send(peer, ...events);
          if (ended) peer.notify("session/attach_ended", { reason: "end" });
        });
      return { sessionId: "s" };
    });

  it("I150 is its text and output alone, byte for byte, to the stream it was written to", async () => {
    await serve(true);
    expect(await logs("s")).toBe(0);
    expect(io.stdout.bytes).toEqual(Buffer.concat([Buffer.from("out"), Buffer.from([0xff]), Buffer.from("said")]));
    expect(io.stderr.text).toBe("err\n");
    expect(daemon.asked.at(-1)?.params).toMatchObject({ follow: false });
  });

  it("--json prints those events, one a line", async () => {
    await serve(true);
    expect(await run(["session", "logs", "s", "--json"], io.at(daemon.home))).toBe(0);
    const printed = io.stdout.text.trimEnd().split("\n");
    expect(printed.map((line): unknown => JSON.parse(line).type)).toEqual(["output", "output", "output", "message"]);
    expect(JSON.parse(printed[0] ?? "")).toMatchObject({ cursor: "c4", sessionId: "s", stream: "stdout", text: "out" });
  });

  it("-f follows until Ctrl-C, which leaves with 130 and without a word", async () => {
    await serve(false);
    const following = logs("s", "-f");
    await until(() => io.stdout.text.endsWith("said"));
    expect(daemon.asked.at(-1)?.params).toMatchObject({ follow: true });
    io.raise("SIGINT");
    expect(await following).toBe(130);
    expect(io.stderr.text).toBe("err\n");
  });

  it("I151 into a closed pipe exits 0 quietly", async () => {
    io.stdout.closed = true;
    await serve(true);
    expect(await logs("s")).toBe(0);
    expect(io.stderr.text).toBe("");
  });
});

describe("what the worker wrote to standard error", () => {
  const id = "01a2aaaa-0000-7000-8000-000000000001";
  let path: string;
  beforeEach(() => {
    // A record that cannot be read is enough to have a session of that id.
    mkdirSync(join(daemon.home, "sessions", id), { recursive: true });
    writeFileSync(join(daemon.home, "sessions", id, "session.json"), "{");
    mkdirSync(join(daemon.home, "logs"));
    path = join(daemon.home, "logs", `worker-${id}.err`);
  });

  it("is read without a daemon, and is empty where there is none", async () => {
    expect(await logs(id, "--source", "worker")).toBe(0);
    writeFileSync(path, "one\ntwo");
    expect(await logs(id.slice(-8), "--source", "worker")).toBe(0);
    expect([io.stdout.text, io.stderr.text]).toEqual(["one\ntwo", ""]);
  });

  it("is its end, from a whole line on", async () => {
    writeFileSync(path, `${"x".repeat(100_000)}\n${"line\n".repeat(10_000)}`);
    expect(await logs(id, "--source", "worker")).toBe(0);
    expect(io.stdout.text).toMatch(/^(line\n)+$/);
  });

  it("--json is one object a line, also for a last line that was cut", async () => {
    writeFileSync(path, "one\ntw\u00f6");
    expect(await logs(id, "--source", "worker", "--json")).toBe(0);
    expect(io.stdout.text).toBe(
      ["one", "tw\u00f6"].map((text) => `${JSON.stringify({ sessionId: id, source: "worker", text })}\n`).join(""),
    );
  });

  it("-f goes on with what is added, until Ctrl-C", async () => {
    const following = logs(id, "--source", "worker", "-f");
    writeFileSync(path, "one\n");
    await until(() => io.stdout.text === "one\n");
    appendFileSync(path, "two\n");
    await until(() => io.stdout.text === "one\ntwo\n");
    io.raise("SIGINT");
    expect(await following).toBe(130);
  });

  it("of an unknown session exits 4", async () => {
    expect(await logs("nope", "--source", "worker")).toBe(4);
  });
});
