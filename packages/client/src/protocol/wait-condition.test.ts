import { expect, it } from "vitest";
import { sessionStates, waitConditions } from "./rows.ts";
import type { Activity, SessionState, WaitCondition } from "./rows.ts";
import { meets } from "./wait-condition.ts";

const activities: readonly Activity[] = ["idle", "working", "needs_input"];

/** Every state with every activity, with and without open operations: those that meet the condition, as `state/activity/operations`. */
function meeting(condition: WaitCondition): string[] {
  return sessionStates.flatMap((state) =>
    activities.flatMap((activity) =>
      [0, 1].flatMap((openOperations) =>
        meets({ state, activity, openOperations }, condition) ? [`${state}/${activity}/${openOperations}`] : [],
      ),
    ),
  );
}
const allOf = (state: SessionState): string[] =>
  activities.flatMap((activity) => [0, 1].map((operations) => `${state}/${activity}/${operations}`));

it("idle is nothing running and nothing queued, in a session that rests", () => {
  expect(meeting("idle").toSorted()).toEqual(["passivated/idle/0", "ready/idle/0", "stopped/idle/0"]);
});

it("needs_input is an activity, whatever the state", () => {
  expect(meeting("needs_input")).toEqual(
    sessionStates.flatMap((state) => [`${state}/needs_input/0`, `${state}/needs_input/1`]),
  );
});

it.each(["stopped", "failed"] as const)("%s is that state, whatever is left open", (condition) => {
  expect(meeting(condition)).toEqual(allOf(condition));
});

it("is defined for every condition that can be asked for", () => {
  expect(waitConditions.map((condition) => meeting(condition).length > 0)).toEqual([true, true, true, true]);
});
