import { randomRounds } from "../e2e/moments/rounds.ts";
import { reasonsOf } from "../e2e/moments/reasons.ts";
import type { Target } from "./target.ts";

const ROUNDS = 200;

/** Random requests of sessions while supervisor, worker or both are killed at random moments. */
export const rounds: Target = async ({ rounds: count, seed }) => {
  const began = performance.now();
  try {
    const report = await randomRounds({ rounds: count ?? ROUNDS, seed });
    const columns = Object.entries(report).map(([name, value]) => `${name} ${value}`);
    const seconds = Math.round((performance.now() - began) / 1_000);
    process.stdout.write(`rounds seed ${seed}   ${columns.join("   ")}   seconds ${seconds}\n`);
    return true;
  } catch (error) {
    process.stderr.write(`rounds: seed ${seed}: ${reasonsOf(error)}\n`);
    return false;
  }
};
