import { expect, it } from "vitest";
import { mutants } from "../../packages/simulator/src/proof/mutants.ts";
import { Simulator } from "./programs.ts";

it("has at least twenty defects, each in a place of its own", () => {
  expect(mutants.length).toBeGreaterThanOrEqual(20);
  expect(new Set(mutants.map(({ from }) => from)).size).toBe(mutants.length);
});

it.each(mutants)("is caught by the $caughtBy.by: $name", { timeout: 120_000 }, async (mutant) => {
  using simulator = await Simulator.make(mutant);
  const { caughtBy } = mutant;
  const { code, stdout } =
    caughtBy.by === "exploration"
      ? await simulator.run("--explore", "9")
      : await simulator.run("--seed", String(caughtBy.seed), "--runs", "1", "--first");
  const told = caughtBy.by === "exploration" ? /, [1-9]\d* violations,/ : /^seed \d+: /;
  expect([code, stdout]).toEqual([1, expect.stringMatching(told)]);
});
