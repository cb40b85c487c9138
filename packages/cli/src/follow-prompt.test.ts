import type { EventBody, SessionEvent, StopReason } from "@holdfast/client/protocol";
import { describe, expect, it } from "vitest";
import { followPrompt } from "./follow-prompt.ts";
import type { PromptOutcome, PromptState } from "./follow-prompt.ts";

const at = (body: EventBody, index: number): SessionEvent => ({
  ...body,
  cursor: `c${index}`,
  at: "2030-01-01T00:00:00.000Z",
  sessionId: "s",
});

function play(bodies: readonly EventBody[]): { shown: string[]; outcome: PromptOutcome | null } {
  let state: PromptState = { phase: "waiting", actionId: "mine" };
  const shown: string[] = [];
  for (const [index, body] of bodies.entries()) {
    const step = followPrompt(state, at(body, index));
    state = step.state;
    if (step.shown) shown.push(body.type === "output" ? body.text : body.type);
    if (step.outcome) return { shown, outcome: step.outcome };
  }
  return { shown, outcome: null };
}

const accepted = (actionId: string): EventBody => ({
  type: "prompt_accepted",
  actionId,
  kind: "prompt",
  text: "x",
  requestId: "r",
});
const started = (actionId: string): EventBody => ({ type: "turn_started", turnId: `t-${actionId}`, actionId });
const output = (text: string, turnId?: string): EventBody => ({
  type: "output",
  stream: "stdout",
  text,
  ...(turnId === undefined ? {} : { turnId }),
});
const ended = (actionId: string, stopReason: StopReason = "end_turn", exitCode?: number): EventBody => ({
  type: "turn_ended",
  turnId: `t-${actionId}`,
  actionId,
  stopReason,
  ...(exitCode === undefined ? {} : { exitCode }),
});

const cancelled = (actionId: string): EventBody => ({ type: "action_cancelled", actionId, reason: "stopped" });

describe("a followed prompt", () => {
  it("shows its own turn alone, though another ran before it", () => {
    const { shown, outcome } = play([
      accepted("mine"),
      output("theirs", "t-other"),
      ended("other", "failed"),
      started("mine"),
      output("ours", "t-mine"),
      output("theirs again", "t-other"),
      output("ours without a turn"),
      ended("mine"),
      output("after"),
    ]);
    expect(shown).toEqual(["prompt_accepted", "turn_started", "ours", "ours without a turn", "turn_ended"]);
    expect(outcome).toEqual({ kind: "done" });
  });

  it("always shows how the session is, also while it waits", () => {
    expect(
      play([
        { type: "state", state: "recovering" },
        { type: "gap", from: "a", to: "b", reason: "rotated" },
      ]),
    ).toEqual({ shown: ["state", "gap"], outcome: null });
  });

  it("ends with the command's own status", () => {
    expect(play([started("mine"), ended("mine", "end_turn", 3)]).outcome).toEqual({ kind: "status", exitCode: 3 });
    expect(play([started("mine"), ended("mine", "end_turn", 0)]).outcome).toEqual({ kind: "done" });
  });

  it.each<[StopReason, string]>([
    ["cancelled", "turn_cancelled"],
    ["interrupted", "interrupted"],
    ["refused", "turn_refused"],
    ["limited", "turn_limited"],
    ["failed", "turn_failed"],
  ])("that was %s fails as %s", (reason, code) => {
    expect(play([started("mine"), ended("mine", reason, 0)]).outcome).toMatchObject({ kind: "failed", code });
  });

  it("ends when it is cancelled before it ran, but not when another is", () => {
    expect(play([cancelled("other")]).outcome).toBeNull();
    expect(play([cancelled("other"), cancelled("mine")]).outcome).toMatchObject({ code: "turn_cancelled" });
  });

  it("ends though its start was lost in a gap", () => {
    expect(play([{ type: "gap", from: "a", to: "b", reason: "lost" }, ended("mine")]).outcome).toEqual({
      kind: "done",
    });
  });
});
