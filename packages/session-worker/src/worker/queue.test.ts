import { describe, expect, it } from "vitest";
import { emptyQueue, isIdle, reduce } from "./queue.ts";
import type { Entry, QueueEffect, QueueEvent, QueueState } from "./queue.ts";

const entry = (actionId: string, kind: Entry["kind"] = "prompt"): Entry => ({ actionId, kind, text: actionId });
const a = entry("a");
const b = entry("b", "follow_up");
const s = entry("s", "steer");

function play(...events: QueueEvent[]): { state: QueueState; effects: QueueEffect[] } {
  let state = emptyQueue;
  const effects: QueueEffect[] = [];
  for (const event of events) {
    const step = reduce(state, event);
    ({ state } = step);
    effects.push(...step.effects);
  }
  return { state, effects };
}

const admitted = (action: Entry, interrupt = false): QueueEvent => ({ type: "admitted", entry: action, interrupt });
const on = (type: "started" | "ended" | "settled" | "dispatch_failed", { actionId }: Entry): QueueEvent => ({
  type,
  actionId,
});
const brief = (effects: readonly QueueEffect[]): string[] =>
  effects.map((effect) => {
    const name = "entry" in effect ? effect.entry.actionId : effect.actionId;
    return `${effect.type} ${name}${effect.type === "steered" ? ` ${effect.outcome}` : ""}`;
  });

describe("the action queue", () => {
  it("runs one turn at a time, in order, and the next only when the last is settled (I68)", () => {
    const first = play(admitted(a), admitted(b), on("started", a), on("ended", a));
    expect(brief(first.effects)).toEqual(["start a"]);
    expect(brief(reduce(first.state, on("settled", a)).effects)).toEqual(["start b"]);
  });

  it("I161 puts restored actions ahead of new ones, in their order", () => {
    const { state } = play({ type: "restored", entries: [a, b] }, admitted(entry("c")));
    expect(state.turn?.entry).toBe(a);
    expect(state.waiting.map(({ actionId }) => actionId)).toEqual(["b", "c"]);
  });

  it("steers the running turn, or queues without one", () => {
    expect(brief(play(admitted(a), on("started", a), admitted(s)).effects)).toEqual(["start a", "inject s"]);
    expect(brief(play(admitted(s)).effects)).toEqual(["steered s queued", "start s"]);
    const late = play(admitted(a), on("started", a), admitted(s), on("ended", a), { type: "inject_failed", entry: s });
    expect(brief(late.effects)).toEqual(["start a", "inject s", "steered s queued"]);
    expect(brief(reduce(late.state, on("settled", a)).effects)).toEqual(["start s"]);
  });

  it("an interrupting steer cancels the turn and goes ahead of what waits", () => {
    const { state, effects } = play(admitted(a), on("started", a), admitted(b), admitted(s, true));
    expect(brief(effects)).toEqual(["start a", "steered s interrupted", "cancel_turn a"]);
    expect(state.waiting).toEqual([s, b]);
  });

  it("cancels a waiting action without running it, the turn by name or without, and nothing else", () => {
    const running = play(admitted(a), on("started", a), admitted(b)).state;
    expect(brief(reduce(running, { type: "cancel", actionId: "b" }).effects)).toEqual(["drop b"]);
    expect(brief(reduce(running, { type: "cancel" }).effects)).toEqual(["cancel_turn a"]);
    expect(brief(reduce(running, { type: "cancel", actionId: "a" }).effects)).toEqual(["cancel_turn a"]);
    expect(reduce(running, { type: "cancel", actionId: "x" })).toEqual({ state: running, effects: [] });
    expect(reduce(emptyQueue, { type: "cancel" })).toEqual({ state: emptyQueue, effects: [] });
  });

  it("a cancel that comes while the turn is being dispatched reaches it", () => {
    expect(brief(play(admitted(a), { type: "cancel" }, on("started", a)).effects)).toEqual([
      "start a",
      "cancel_turn a",
    ]);
    expect(brief(play(admitted(a), { type: "cancel" }, on("dispatch_failed", a)).effects)).toEqual([
      "start a",
      "drop a",
    ]);
  });

  it("I141 what could not be dispatched waits in its place until the disk takes records again", () => {
    const held = play(admitted(a), admitted(b), on("dispatch_failed", a));
    expect(held.state).toMatchObject({ gate: "held", waiting: [a, b], turn: null });
    expect(brief(reduce(held.state, { type: "retry" }).effects)).toEqual(["start a"]);
  });

  it("I125 starts nothing once it is closed and keeps what waits", () => {
    const { state, effects } = play(
      admitted(a),
      on("started", a),
      admitted(b),
      { type: "close" },
      on("ended", a),
      on("settled", a),
      { type: "retry" },
    );
    expect(brief(effects)).toEqual(["start a", "cancel_turn a"]);
    expect(state).toMatchObject({ gate: "closed", waiting: [b], turn: null });
    expect(brief(play(admitted(a), { type: "close" }, on("started", a)).effects)).toEqual(["start a", "cancel_turn a"]);
  });

  it("holds its rules in every state that three actions can reach in any order of events", () => {
    const actions = [a, b, s];
    const seen = new Set<string>();
    const todo: { state: QueueState; admitted: number; injecting: boolean }[] = [
      { state: emptyQueue, admitted: 0, injecting: false },
    ];
    for (const { state, admitted: count, injecting } of todo) {
      const key = JSON.stringify([state, count, injecting]);
      if (seen.has(key)) continue;
      seen.add(key);
      const events: QueueEvent[] = [{ type: "cancel" }, { type: "retry" }, { type: "close" }];
      for (const action of actions) {
        events.push(on("started", action), on("ended", action), on("settled", action), on("dispatch_failed", action));
        events.push({ type: "cancel", actionId: action.actionId });
      }
      const [next] = actions.slice(count);
      if (next) events.push(admitted(next), admitted(next, true));
      if (injecting) events.push({ type: "inject_failed", entry: s });
      for (const event of events) {
        const step = reduce(state, event);
        expect(problemsOf(state, step)).toEqual([]);
        todo.push({
          state: step.state,
          admitted: count + (event.type === "admitted" ? 1 : 0),
          injecting:
            event.type === "inject_failed" ? false : injecting || step.effects.some(({ type }) => type === "inject"),
        });
      }
    }
    expect(seen.size).toBeGreaterThan(100);
  });
});

/** The rules that a step broke. */
function problemsOf(before: QueueState, { state, effects }: ReturnType<typeof reduce>): string[] {
  const ids = [...state.waiting, ...(state.turn ? [state.turn.entry] : [])].map(({ actionId }) => actionId);
  const starts = effects.filter(({ type }) => type === "start").length;
  const rules: Record<string, boolean> = {
    "an action is in one place": new Set(ids).size === ids.length,
    "one turn at a time": starts === 0 || (starts === 1 && state.turn?.phase === "dispatching"),
    "a start needs an open gate": starts === 0 || state.gate === "open",
    "a closed gate stays closed": before.gate !== "closed" || state.gate === "closed",
    "nothing waits without a reason": state.gate !== "open" || state.turn !== null || state.waiting.length === 0,
    "idle means empty": isIdle(state) === (ids.length === 0),
  };
  return Object.keys(rules).filter((rule) => rules[rule] !== true);
}
