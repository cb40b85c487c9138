import type { EventBody } from "@holdfast/client/protocol";
import { expect, it } from "vitest";
import { renderEvent } from "./render-event.ts";

const render = (body: EventBody, view: "prompt" | "viewer" = "prompt") =>
  renderEvent({ ...body, cursor: "c", at: "2030-01-01T00:00:00.000Z", sessionId: "s" }, view);

it("I150 passes output on byte for byte, bytes before text, to the stream it was written to", () => {
  const raw = Buffer.from([0xff, 0x00, 0x0a]);
  expect(render({ type: "output", stream: "stderr", text: "\ufffd", bytes: raw.toString("base64") })).toEqual([
    { to: "stderr", data: raw },
  ]);
  const text = "a\r\u2028\u0085😀 no newline";
  expect(render({ type: "output", stream: "stdout", text })).toEqual([{ to: "stdout", data: text }]);
});

it("shows ends to a viewer alone, and notices on standard error", () => {
  const failed: EventBody = { type: "turn_ended", turnId: "t", actionId: "a", stopReason: "end_turn", exitCode: 2 };
  expect(render(failed)).toEqual([]);
  expect(render(failed, "viewer")).toEqual([{ to: "stderr", data: "· exit 2\n" }]);
  expect(render({ type: "tool", toolCallId: "1", title: "read", status: "running" })[0]?.to).toBe("stderr");
});
