import { expect, it } from "vitest";
import { RECOVERY_DELAYS_MS } from "./budget.ts";
import { reduce } from "./reduce.ts";
import { freshOf, sampleStates } from "./samples.testing.ts";
import type { State } from "./state.ts";

const NOW = 100;
const retry = { type: "resume", by: "retry", fresh: freshOf("f") } as const;
const resume = { ...retry, by: "resume" } as const;

const waiting = sampleStates.recovering.find(({ phase }) => phase === "waiting")!;
const settling = sampleStates.recovering.find(({ phase }) => phase === "settling")!;

it("a retry launches at once, and outside the budget; a resume waits for the delay", () => {
  expect(reduce(waiting, retry, NOW)).toMatchObject({
    kind: "move",
    state: { name: "launching", generation: "f", launches: waiting.launches },
  });
  expect(reduce(waiting, resume, NOW).kind).toBe("ignore");
});

it("a retry while the last worker's work is settled is not lost: the shortest delay follows, also with a spent budget", () => {
  const spent: State = { ...settling, launches: RECOVERY_DELAYS_MS.map(() => ({ bootId: "b", at: NOW })) };
  const retried = reduce(spent, retry, NOW);
  expect(retried).toMatchObject({ kind: "move", effects: [] });
  const { state } = { state: spent, ...retried };
  expect(reduce(state, { type: "settled", generation: "g", fresh: freshOf("f") }, NOW)).toMatchObject({
    state: { name: "recovering", due: { timer: "relaunch", at: NOW + 250 } },
  });
  expect(reduce(spent, resume, NOW).kind).toBe("ignore");
});

it("a retry leaves a passivated session passivated: nothing failed", () => {
  expect(reduce({ name: "passivated", due: null }, retry, NOW).kind).toBe("ignore");
});
