import { churnBenchmarks } from "./rows/churn.ts";
import { commandBenchmarks } from "./rows/commands.ts";
import { journalBenchmarks } from "./rows/journal.ts";
import { loopGapBenchmark } from "./rows/loop-gap.ts";
import { savedSessionsBenchmark } from "./rows/saved-sessions.ts";
import { saturatedPoolBenchmark } from "./rows/saturated-pool.ts";
import { sessionBenchmarks } from "./rows/sessions.ts";
import { verdictBenchmark } from "./rows/verdict.ts";
import { watchBenchmark } from "./rows/watch.ts";
import type { Benchmark } from "./support/bench.ts";

/** In this order: what is short, then what needs many sessions. */
export const benchmarks: readonly Benchmark[] = [
  ...commandBenchmarks,
  verdictBenchmark,
  watchBenchmark,
  ...churnBenchmarks,
  ...journalBenchmarks,
  saturatedPoolBenchmark,
  loopGapBenchmark,
  savedSessionsBenchmark,
  ...sessionBenchmarks,
];
