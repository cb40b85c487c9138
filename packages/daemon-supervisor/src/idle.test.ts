import { FakeClock } from "@holdfast/shared-process/testing";
import { expect, it } from "vitest";
import { Idle } from "./idle.ts";
import { sampleStates } from "./lifecycle/samples.testing.ts";
import { stateNames } from "./lifecycle/state.ts";
import type { StateName } from "./lifecycle/state.ts";

const MINUTE = 60_000;
const atRest: readonly StateName[] = ["passivated", "failed"];

function daemon() {
  const clock = new FakeClock();
  let ended = 0;
  const idle = new Idle(clock, () => (ended += 1));
  /** Something changed, and sessions of these states are registered now. */
  const look = (...states: readonly StateName[]): void =>
    idle.look({ sessionIds: () => [...states], newest: (name) => sampleStates[asState(name)][0] ?? null });
  return { clock, idle, look, ended: () => ended };
}

const asState = (name: string): StateName => {
  const state = stateNames.find((other) => other === name);
  if (!state) throw new Error(name);
  return state;
};

it("a daemon without a session that has a process ends itself after 30 minutes, whatever is looked at meanwhile", () => {
  const { clock, look, ended } = daemon();
  look(...atRest);
  clock.advance(20 * MINUTE);
  look();
  clock.advance(10 * MINUTE - 1);
  expect(ended()).toBe(0);
  clock.advance(1);
  expect(ended()).toBe(1);
});

it.each(stateNames.filter((name) => !atRest.includes(name)))(
  "a session that is %s keeps it, and starts its time anew",
  (name) => {
    const { clock, look, ended } = daemon();
    look();
    clock.advance(29 * MINUTE);
    look("passivated", name);
    expect(clock.pendingTimers).toBe(0);
    clock.advance(60 * MINUTE);
    look("passivated");
    clock.advance(29 * MINUTE);
    expect(ended()).toBe(0);
    clock.advance(MINUTE);
    expect(ended()).toBe(1);
  },
);

it("one that ends for another reason is not ended again", () => {
  const { clock, idle, look, ended } = daemon();
  look();
  idle[Symbol.dispose]();
  look();
  clock.advance(60 * MINUTE);
  expect(ended()).toBe(0);
});
