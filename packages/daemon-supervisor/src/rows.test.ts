import { sessionStates } from "@holdfast/client/protocol";
import type { SessionState } from "@holdfast/client/protocol";
import { expect, it } from "vitest";
import { reduce } from "./lifecycle/reduce.ts";
import { freshOf, intentOf, processOf, sampleStates } from "./lifecycle/samples.testing.ts";
import { stateNames } from "./lifecycle/state.ts";
import type { Event, State } from "./lifecycle/state.ts";
import { isLive, rowOf } from "./rows.ts";
import { sessionRecordOf } from "./session-record.testing.ts";

const record = sessionRecordOf("01a2aaaa-0000-7000-8000-000000000001", { name: "s" });
const report = { activity: "idle", openOperations: 0, lastActivityAt: 0, waitingFor: null, degraded: null } as const;
const row = (state: State, connected = true) =>
  rowOf({ record, state, report: connected ? report : null, quarantine: null });

it("I25 I39 every registration is shown, as one of the states of the contract, whatever its own state is", () => {
  const shown = stateNames.flatMap((name) => sampleStates[name].map((state: State): SessionState => row(state).state));
  expect(shown.filter((state) => !sessionStates.includes(state))).toEqual([]);
  expect(new Set(shown)).toEqual(new Set(["starting", "ready", "recovering", "stopping", "failed", "passivated"]));
});

it("I25 a ready worker without a channel is recovering; one under an intent is stopping, with or without a channel", () => {
  const ready = sampleStates.ready[0]!;
  const stopping = sampleStates.stopping[0]!;
  expect([row(ready, false).state, row(ready).state]).toEqual(["recovering", "ready"]);
  expect([row(stopping, false).state, row(stopping).state]).toEqual(["stopping", "stopping"]);
});

const liveNames = (connected: boolean): string[] =>
  stateNames.filter((name) => sampleStates[name].some((state: State) => isLive(row(state, connected).state)));

it("I39 I40 a session under a stop is no live one, with or without a channel, and whatever the stop is for", () => {
  const live = ["launching", "starting", "ready", "reconnecting", "recovering"];
  expect([liveNames(true), liveNames(false)]).toEqual([live, live]);
});

it("I112 an end that takes longer than ten minutes says so, and why its clean-up fails", () => {
  const finalizing: State = {
    name: "finalizing",
    process: processOf("g"),
    launches: [],
    intent: intentOf("stop"),
    since: 1_000,
    problem: "processes could not be listed",
    due: { timer: "finalize", at: 10 },
  };
  const reasonAt = (now: number): string | null =>
    rowOf({ record, state: finalizing, report: null, quarantine: null, now }).reason;
  expect(reasonAt(600_999)).toBe("processes could not be listed");
  expect(reasonAt(601_000)).toBe("degraded: its end takes longer than 10 minutes; processes could not be listed");
});

const moved = (state: State, event: Event): State => {
  const decision = reduce(state, event, 1_000);
  return decision.kind === "move" ? decision.state : expect.fail(decision.kind);
};

it("I137 a recovery whose files cannot be settled says why, for as long as it is tried again", () => {
  const failed = { type: "settle_failed", generation: "g", terminal: false, reason: "EIO" } as const;
  const waiting = moved(sampleStates.recovering[0]!, failed);
  const trying = moved(waiting, { type: "due", timer: "settle", at: waiting.due?.at ?? 0, fresh: freshOf("f") });
  expect([row(waiting).reason, row(trying).reason]).toEqual(Array(2).fill("its worker ended; settling: EIO"));
});
