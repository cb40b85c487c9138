/*
 * The deep form of the crash enumerations: made-up workloads, more cuts of each write, more second crashes, and a second writer whose
 * own run is cut everywhere. Prints one line for each round and ends with status 1 if anything was found.
 *
 *   node --conditions=@holdfast/source --import tsx packages/recovery-journal/stress/crash.ts --seed 1 --rounds 10
 */
import { parseArgs } from "node:util";
import { enumerateCrashes, enumerateFaults } from "../src/proof/enumerate.ts";
import { interleaveEverywhere } from "../src/proof/interleave.ts";
import { printCounts } from "../src/proof/print-counts.ts";
import { randomWorkload } from "../src/proof/random-workload.ts";
import { SecondWriter } from "../src/proof/second-writer.ts";
import { secondSteps } from "../src/proof/workloads.ts";
import { generator } from "../src/testing/crash-states.ts";

const STEPS = 10;

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, rounds: { type: "string", default: "10" } },
});
const first = Number(values.seed);
const second = await SecondWriter.start();
let found = 0;
try {
  for (let seed = first; seed < first + Number(values.rounds); seed += 1) {
    const problems = await round(seed);
    found += problems.size;
    for (const problem of problems) process.stdout.write(`seed ${seed}: ${problem}\n`);
  }
} finally {
  await second.stop();
}
process.exitCode = found === 0 ? 0 : 1;

async function round(seed: number): Promise<ReadonlySet<string>> {
  const steps = randomWorkload(generator(seed), STEPS);
  const crash = { cuts: 8, samples: 6, mixtures: 48, seed };
  const crashes = await enumerateCrashes({ steps, crash, recoverEvery: 6 });
  const small = { cuts: 2, samples: 2, mixtures: 8, names: 5, seed };
  const faults = await enumerateFaults(
    { steps, crash: small },
    { errno: "EIO", effect: seed % 2 === 0 ? "none" : "all" },
  );
  const interleaved = await interleaveEverywhere({ steps, secondSteps, second, crash: small, cutWithinEvery: 2 });
  const { calls, states, recoveries, nested } = crashes;
  printCounts(`seed ${seed}`, {
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
