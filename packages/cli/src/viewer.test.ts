import type { EventBody } from "@holdfast/client/protocol";
import { describe, expect, it } from "vitest";
import { FakeIo } from "../test/fake-io.ts";
import { Context } from "./context.ts";
import { Viewer } from "./viewer.ts";
import type { ViewerForm } from "./viewer.ts";

const accepted = (actionId: string, text: string, kind: "prompt" | "steer" = "prompt"): EventBody => ({
  type: "prompt_accepted",
  actionId,
  kind,
  text,
  requestId: "r",
});
const started = (actionId: string): EventBody => ({ type: "turn_started", turnId: `t-${actionId}`, actionId });
const ended = (actionId: string, exitCode = 0): EventBody => ({
  type: "turn_ended",
  turnId: `t-${actionId}`,
  actionId,
  stopReason: "end_turn",
  exitCode,
});
const output = (text: string, stream: "stdout" | "stderr" = "stdout"): EventBody => ({ type: "output", stream, text });

async function shown(form: ViewerForm, ...bodies: readonly EventBody[]): Promise<{ stdout: string; stderr: string }> {
  const io = new FakeIo();
  const viewer = new Viewer(
    new Context(io, { home: "/h", givenHome: null, json: false, autostart: false, requestId: null }),
    form,
  );
  for (const [index, body] of bodies.entries())
    await viewer.show({ ...body, cursor: `c${index}`, at: "2030-01-01T00:00:00.000Z", sessionId: "s" });
  return { stdout: io.stdout.text, stderr: io.stderr.text };
}

describe("a viewer", () => {
  it("shows each prompt where its turn begins, so that answers stand under their prompts", async () => {
    const { stdout, stderr } = await shown(
      "live",
      accepted("a", "one"),
      started("a"),
      accepted("b", "two\nlines"),
      output("1\n"),
      ended("a"),
      started("b"),
      output("2\n"),
      ended("b"),
    );
    expect(stdout).toBe("> one\n1\n> two\n> lines\n2\n");
    expect(stderr).toBe("· queued: two\nlines\n");
  });

  it("says what became of a text that never began a turn of its own", async () => {
    const cancelled: EventBody = { type: "action_cancelled", actionId: "b", reason: "stopped" };
    const steered: EventBody = { type: "steer", actionId: "c", outcome: "injected" };
    const bodies = [started("a"), accepted("b", "two"), accepted("c", "yes", "steer"), steered, cancelled];
    expect(await shown("live", ...bodies)).toEqual({
      stdout: "",
      stderr: "· queued: two\n· steer injected: yes\n· will not run: two (stopped)\n",
    });
  });

  it("writes a document to standard output alone, in order, notices on lines of their own", async () => {
    const bodies = [accepted("a", "x"), started("a"), output("out"), output("err", "stderr"), ended("a", 3)];
    expect(await shown("document", ...bodies)).toEqual({ stdout: "> x\nouterr\n· exit 3\n", stderr: "" });
    expect(await shown("live", ...bodies)).toEqual({ stdout: "> x\nout\n", stderr: "err· exit 3\n" });
  });
});
