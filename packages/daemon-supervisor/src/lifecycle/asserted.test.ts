import { expect, it } from "vitest";
import { durableShape } from "./durable.ts";
import { reduce } from "./reduce.ts";
import { intentOf, processOf } from "./samples.testing.ts";
import type { Event, State } from "./state.ts";

const asserted: Event = { type: "process_gone", generation: "g", how: "asserted" };
const process = processOf("g");
const intent = intentOf("stop");
const common = { process, launches: [], due: null } as const;

it.each<[string, State]>([
  ["recovering", { name: "reconnecting", ...common }],
  [
    "finalizing",
    { name: "stopping", ...common, generation: "g", intent, phase: "killing", graceEndsAt: null, since: 1 },
  ],
])(
  "I164 a person's word leads on to %s, and stands in the record, so that no later supervisor asks again",
  (name, state) => {
    const decision = reduce(state, asserted, 5);
    if (decision.kind !== "move") throw new Error(decision.kind);
    expect(decision.state.name).toBe(name);
    expect(durableShape(decision.state).descriptor).toMatchObject({ process: { ...process, assertedGone: true } });
    expect(decision.effects.some(({ type }) => type === "signal")).toBe(false);
  },
);

it("a worker that answers is not taken for gone by anybody's word", () => {
  expect(reduce({ name: "ready", ...common }, asserted, 5)).toMatchObject({ kind: "deny", code: "session_running" });
});
