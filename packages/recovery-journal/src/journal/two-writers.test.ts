import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { interleaveEverywhere } from "../proof/interleave.ts";
import { printCounts } from "../proof/print-counts.ts";
import { SecondWriter } from "../proof/second-writer.ts";
import { secondSteps, workloads } from "../proof/workloads.ts";

const TIMEOUT_MS = 180_000;
/** At one call in so many of the first writer the power is also cut within the second one's run; `pnpm stress crash` takes more. */
const CUT_WITHIN_EVERY = 8;

const totals: Record<string, Record<string, number>> = {};
let second: SecondWriter;
beforeAll(async () => {
  second = await SecondWriter.start();
});
afterAll(async () => {
  await second.stop();
  for (const [suite, counts] of Object.entries(totals)) printCounts(suite, counts);
});

describe.each(["append", "claim", "compaction", "quarantine", "release"] as const)("two writers: %s", (name) => {
  it(
    "I70 I144 lose nothing that either was told, at whatever call the second comes in, and with a power cut at either's end",
    { timeout: TIMEOUT_MS },
    async () => {
      const { problems, ...counts } = await interleaveEverywhere({
        steps: workloads[name],
        secondSteps,
        second,
        crash: { cuts: 1, samples: 1, mixtures: 4, names: 4 },
        cutWithinEvery: CUT_WITHIN_EVERY,
      });
      totals[`two writers, ${name}`] = counts;
      expect([...new Set(problems)]).toEqual([]);
      expect(counts.interleavings).toBeGreaterThan(70);
      expect(counts.acknowledged).toBeGreaterThan(counts.interleavings);
    },
  );
});
