import { enumerateCrashes, enumerateFaults } from "../packages/recovery-journal/src/proof/enumerate.ts";
import { interleaveEverywhere } from "../packages/recovery-journal/src/proof/interleave.ts";
import { printCounts } from "../packages/recovery-journal/src/proof/print-counts.ts";
import { randomWorkload } from "../packages/recovery-journal/src/proof/random-workload.ts";
import { SecondWriter } from "../packages/recovery-journal/src/proof/second-writer.ts";
import { secondSteps } from "../packages/recovery-journal/src/proof/workloads.ts";
import { generator } from "../packages/recovery-journal/src/testing/crash-states.ts";
import type { Target } from "./target.ts";

const SEEDS = 4;
const STEPS = 10;

/**
 * The deep form of the crash enumerations: made-up workloads, more cuts of each write, more second crashes, and a second writer
 * whose own run is cut everywhere. Each round has the next seed.
 */
export const crash: Target = async ({ rounds, seed }) => {
  const second = await SecondWriter.start();
  let isFine = true;
  try {
    for (let next = seed; next < seed + (rounds ?? SEEDS); next += 1) {
      const problems = await round(next, second);
      for (const problem of problems) process.stderr.write(`crash: seed ${next}: ${problem}\n`);
      if (problems.size > 0) isFine = false;
    }
  } finally {
    await second.stop();
  }
  return isFine;
};

async function round(seed: number, second: SecondWriter): Promise<ReadonlySet<string>> {
  const steps = randomWorkload(generator(seed), STEPS);
  const cuts = { cuts: 8, samples: 6, mixtures: 48, seed };
  const crashes = await enumerateCrashes({ steps, crash: cuts, recoverEvery: 6 });
  const small = { cuts: 2, samples: 2, mixtures: 8, names: 5, seed };
  const faults = await enumerateFaults(
    { steps, crash: small },
    { errno: "EIO", effect: seed % 2 === 0 ? "none" : "all" },
  );
  const interleaved = await interleaveEverywhere({ steps, secondSteps, second, crash: small, cutWithinEvery: 2 });
  const { calls, states, recoveries, nested } = crashes;
  printCounts(`crash seed ${seed}`, {
    calls,
    states,
    recoveries,
    nested,
    faults: faults.calls,
    "states after faults": faults.states,
    interleavings: interleaved.interleavings,
    "states of two writers": interleaved.states,
    violations: crashes.problems.length + faults.problems.length + interleaved.problems.length,
  });
  return new Set([...crashes.problems, ...faults.problems, ...interleaved.problems]);
}
