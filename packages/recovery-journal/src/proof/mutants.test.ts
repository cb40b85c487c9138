import { afterAll, beforeAll, expect, it } from "vitest";
import { replaceFile } from "../durable/replace-file.ts";
import { enumerateCrashes, enumerateFaults } from "./enumerate.ts";
import { interleaveEverywhere } from "./interleave.ts";
import { type Mutant, mutants } from "./mutants.ts";
import { printCounts } from "./print-counts.ts";
import { enumerateReplacement } from "./replacement.ts";
import { SecondWriter } from "./second-writer.ts";
import { secondSteps, workloads } from "./workloads.ts";

/** Fewer places than the real code's, as the first finding would do. */
const crash = { cuts: 2, samples: 1, mixtures: 8, names: 3 };
/** Thousands of disks: slow where others share the machine. */
const TIMEOUT = { timeout: 180_000 };
const replace = async (...call: Parameters<typeof replaceFile>): Promise<boolean> => {
  replaceFile(...call);
  return true;
};

const enumerations: Record<Mutant["caughtBy"], (broken: Omit<Mutant, "caughtBy">) => Promise<string[]>> = {
  crash: async (broken) => {
    const problems: string[] = [];
    for (const steps of [workloads.append, workloads.compaction]) {
      problems.push(...(await enumerateCrashes({ steps, crash, recoverEvery: 0, ...broken })).problems);
    }
    return problems;
  },
  fault: async ({ wrap }) =>
    (await enumerateFaults({ steps: workloads.append, crash, wrap }, { errno: "EIO", effect: "none" })).problems,
  replacement: async ({ wrap }) => (await enumerateReplacement({ replace, over: "a file", crash, wrap })).problems,
  interleaving: async ({ wrap }) => {
    const steps = workloads.append;
    return (await interleaveEverywhere({ steps, secondSteps, second, crash, wrap, cutWithinEvery: 0 })).problems;
  },
};

const violations: Record<string, number> = {};
let second: SecondWriter;
beforeAll(async () => {
  second = await SecondWriter.start();
});
afterAll(async () => {
  await second.stop();
  for (const [mutant, count] of Object.entries(violations)) printCounts(`mutant: ${mutant}`, { violations: count });
});

it.each(Object.entries(mutants))(
  "I69 I70 I73 are seen to be broken when %s",
  TIMEOUT,
  async (name, { caughtBy, ...broken }) => {
    const problems = await enumerations[caughtBy](broken);
    violations[name] = problems.length;
    expect(problems.length).toBeGreaterThan(0);
  },
);

it.each(Object.entries(enumerations))(
  "a disk that hands everything on is not found to be broken: %s",
  TIMEOUT,
  async (_, run) => {
    expect(await run({ wrap: (inner) => inner })).toEqual([]);
  },
);
