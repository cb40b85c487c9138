import { loadSharedProcess } from "../support/built.ts";
import type { Benchmark } from "../support/bench.ts";
import { end, start } from "../support/children.ts";
import { median } from "../support/measure.ts";

const NAME = "verdict of a stored identity, narrow mode";
const BATCHES = 100;
const PER_BATCH = 200;
const US_PER_MS = 1_000;
/** 20 times the 0.6 µs that a poll of a held pidfd takes (DESIGN §12); without a pidfd library there is nothing to poll here. */
const TARGET_US = 12;

export const verdictBenchmark: Benchmark = {
  names: [NAME],
  run: async (bench) => {
    const { createObserver } = await loadSharedProcess();
    const observer = createObserver({ mode: "narrow" });
    const child = start(["sleep", "600"], { stdio: "ignore" });
    const seen = observer.identify(child.pid ?? 0);
    if (seen.kind !== "identified") throw new Error("the process cannot be identified");
    // As read from a record, not as it was observed.
    const identity: typeof seen.identity = JSON.parse(JSON.stringify(seen.identity));
    const times: number[] = [];
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const from = performance.now();
      for (let look = 0; look < PER_BATCH; look += 1)
        if (observer.verdict(identity).kind !== "current") throw new Error("the process is not current");
      times.push(((performance.now() - from) / PER_BATCH) * US_PER_MS);
    }
    await end(child);
    bench.report({
      name: NAME,
      unit: "µs",
      value: median(times),
      target: { of: "value", atMost: TARGET_US },
      note: "no floor: this version has no pidfd to poll; the target is 20 × the 0.6 µs measured for the design",
    });
  },
};
