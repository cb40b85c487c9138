import { invariant } from "@holdfast/shared-process";
import { assertStep } from "./invariants.ts";
import { transitions } from "./transitions.ts";
import type { Rule } from "./rule.ts";
import type { Decision, Event, Millis, State } from "./state.ts";

export type Reduced = Decision | { readonly kind: "stale"; readonly why: string };

/** The generation that the state's effects answer for. */
export function generationOf(state: State): string | null {
  switch (state.name) {
    case "launching":
    case "stopping":
      return state.generation;
    case "passivated":
      return null;
    case "starting":
    case "ready":
    case "reconnecting":
    case "recovering":
    case "finalizing":
    case "failed":
      return state.process?.generation ?? null;
  }
}

/** A stop intent stands: the process is being ended, or what it left. */
export const isEnding = (state: State): state is Extract<State, { name: "stopping" | "finalizing" }> =>
  state.name === "stopping" || state.name === "finalizing";

/** Whether the state waits for a word from, or the end of, this generation's process. */
export const awaitsProcess = (state: State | null, generation: string): boolean =>
  (state?.name === "starting" || state?.name === "reconnecting" || state?.name === "stopping") &&
  state.process?.generation === generation;

const stopIdOf = (state: State): string | null =>
  state.name === "stopping" || state.name === "finalizing" ? state.intent.stopId : null;

/** The one place where results of another generation, another stop or another timer are dropped (I62, I6). */
function staleness(state: State, event: Event): string | null {
  if ("generation" in event && event.generation !== generationOf(state)) return "another generation";
  if ("stopId" in event && event.type !== "signalled" && event.stopId !== stopIdOf(state)) return "another stop";
  if (event.type === "due" && (state.due?.timer !== event.timer || state.due.at !== event.at)) return "another timer";
  return null;
}

/** Pure and synchronous: what this event does to a registration in this state. `now` is monotonic. */
export function reduce(state: State, event: Event, now: Millis): Reduced {
  const why = staleness(state, event);
  if (why !== null) return { kind: "stale", why };
  // The row and the event were chosen by their own discriminants; the compiler cannot pair the two unions.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const rule = transitions[state.name][event.type] as Rule<State, Event>;
  if (typeof rule === "function") {
    const decision = rule(state, event, now);
    assertStep(state, event, decision);
    return decision;
  }
  if ("ignore" in rule) return { kind: "ignore", why: rule.ignore };
  if ("deny" in rule) return { kind: "deny", code: rule.deny, why: rule.why };
  invariant(false, `impossible: ${event.type} in ${state.name}: ${rule.impossible}`);
}
