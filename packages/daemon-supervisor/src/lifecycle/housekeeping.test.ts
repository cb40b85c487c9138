import { expect, it } from "vitest";
import { decideBoot } from "./boot.ts";
import { reduce } from "./reduce.ts";
import { sampleEvents, sampleStates } from "./samples.testing.ts";
import { goals, stateNames } from "./state.ts";
import type { Event, EventType, State } from "./state.ts";
import { transitions } from "./transitions.ts";

const isEventType = (text: string): text is EventType => Object.hasOwn(sampleEvents, text);
const mayLive = (state: State): boolean =>
  "process" in state && state.process !== null && !["recovering", "finalizing"].includes(state.name);

it("I101 nothing of a worker is cleaned up, and no registration removed, but when its process is proven gone", () => {
  const cleaning = stateNames.flatMap((name) =>
    sampleStates[name].filter(mayLive).flatMap((state: State) =>
      Object.keys(sampleEvents)
        .filter(isEventType)
        .filter((type) => !("impossible" in transitions[name][type]))
        .flatMap((type): readonly Event[] => sampleEvents[type](state))
        .filter((event) => {
          const decision = reduce(state, event, 100);
          if (decision.kind !== "move") return decision.kind === "remove";
          return decision.effects.some(({ type }) => type === "finalize" || type === "settle");
        })
        .map(({ type }) => `${name} ${type}`),
    ),
  );
  const names = ["starting", "ready", "reconnecting", "stopping"].map((name) => `${name} process_gone`);
  expect(new Set(cleaning)).toEqual(new Set(names));
});

it("I101 a start cleans up after no process that lives, or may live", () => {
  for (const verdict of ["current", "unknown"] as const)
    for (const wanted of ["running", "passive", "stopped", "archived"] as const)
      for (const intent of [null, ...goals])
        expect(["continue_stop", "reconnect"]).toContain(decideBoot({ record: "process", wanted, intent, verdict }));
});
