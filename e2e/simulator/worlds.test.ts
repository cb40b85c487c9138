import { afterAll, beforeAll, expect, it } from "vitest";
import { transitions } from "../../packages/daemon-supervisor/src/lifecycle/transitions.ts";
import { unreached } from "../../packages/simulator/src/proof/unreached.ts";
import { Simulator } from "./programs.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await Simulator.make();
});
afterAll(() => simulator[Symbol.dispose]());

it("the same seed gives the same trace, another seed another", async () => {
  const [one, same, other] = await Promise.all(["77", "77", "78"].map((seed) => simulator.run("--seed", seed)));
  expect(one?.stdout.split("\n").length).toBeGreaterThan(20);
  expect(same?.stdout).toBe(one?.stdout);
  expect(other?.stdout).not.toBe(one?.stdout);
});

it("--steps ends a world after so many", async () => {
  const { stdout } = await simulator.run("--seed", "77", "--steps", "50");
  expect(stdout).toMatch(/^50 steps, 0 violations$/m);
});

it(
  "I1 I16 I129 I131 I137 I143 I144 I154 I161 I165 in 120 worlds that fail in all ways nothing is broken that must hold",
  { timeout: 300_000 },
  async () => {
    const halves = await Promise.all(["1", "61"].map((seed) => simulator.run("--seed", seed, "--runs", "60")));
    expect(halves.map(({ code, stdout }) => (code === 0 ? "" : stdout))).toEqual(["", ""]);
  },
);

it("I129 I137 I139 I143 I145 worlds in which something was broken once are whole", { timeout: 120_000 }, async () => {
  const { code, stdout } = await simulator.run("--regressions");
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+ worlds, 0 violations$/)]);
});

/** Lines such as `12 ready stop move`. */
const cellsOf = (stdout: string): string[] =>
  [...stdout.matchAll(/^\d+ (\w+ \w+) \w+$/gm)].flatMap(([, cell]) => (cell === undefined ? [] : [cell]));

it(
  "I1 I8 I16 I129 I144 every interleaving of one worker and two clients, 9 steps deep, breaks nothing and reaches every cell",
  { timeout: 300_000 },
  async () => {
    const { code, stdout } = await simulator.run("--explore", "9");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+ situations, \d+ steps, 0 violations/)]);
    const hit = new Set(cellsOf(stdout));
    const possible = Object.entries(transitions).flatMap(([state, row]) =>
      Object.entries(row)
        .filter(([, rule]: readonly [string, object]) => !("impossible" in rule))
        .map(([event]) => `${state} ${event}`),
    );
    expect(possible.filter((cell) => !hit.has(cell)).toSorted()).toEqual(Object.keys(unreached).toSorted());
    expect([...hit].filter((cell) => !possible.includes(cell))).toEqual([]);
  },
);
