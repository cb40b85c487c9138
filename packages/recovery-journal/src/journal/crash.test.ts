import { afterAll, describe, expect, it } from "vitest";
import {
  CHANGING,
  enumerateCrashes,
  enumerateFaults,
  type EnumerateOptions,
  type Enumeration,
  fingerprint,
} from "../proof/enumerate.ts";
import { Ledger } from "../proof/ledger.ts";
import { printCounts } from "../proof/print-counts.ts";
import { tornBatch, workloads } from "../proof/workloads.ts";
import { runWorkload } from "../proof/workload.ts";
import { SIMULATED_DIRECTORY, SIMULATED_KINDS, SimulatedDisk } from "../testing/index.ts";
import { readJournal } from "./read.ts";

/** Thousands of disks: slow where others share the machine. */
const TIMEOUT_MS = 180_000;
/** One distinct crash state in so many is crashed again in its recovery; `pnpm stress crash` takes more. */
const RECOVER_EVERY = 24;

/** One distinct torn batch in so many. */
const TORN_EVERY = 5;

const totals: Record<string, Record<string, number>> = {};
afterAll(() => {
  for (const [suite, counts] of Object.entries(totals)) printCounts(suite, counts);
});

async function enumerate(suite: string, options: Omit<EnumerateOptions, "crash">): Promise<Enumeration> {
  const found = await enumerateCrashes({ ...options, crash: { cuts: 3, samples: 2, mixtures: 12 } });
  const { problems, ...counts } = found;
  const total = (totals[suite] ??= {});
  for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
  expect([...new Set(problems)]).toEqual([]);
  return found;
}

describe.each(Object.entries(workloads))("a power cut: %s", { timeout: TIMEOUT_MS }, (name, steps) => {
  it("I66 I67 I70 I93 leaves what was acknowledged, and a second one in the recovery changes nothing (a 24th of the states)", async () => {
    const found = await enumerate(`power cuts, ${name}`, { steps, recoverEvery: RECOVER_EVERY });
    expect(found.states).toBeGreaterThan(500);
    expect(found.nested).toBeGreaterThan(1000);
  });

  it.each([
    { errno: "EIO", effects: ["none", "all"] },
    { errno: "ENOSPC", effects: ["half"] },
  ] as const)("I70 I141 leaves what was acknowledged when any one call fails: $errno", async ({ errno, effects }) => {
    const counts = { calls: 0, states: 0 };
    for (const effect of effects) {
      const crash = { cuts: 1, samples: 1, mixtures: 4, names: 2 };
      const { calls, states, problems } = await enumerateFaults({ steps, crash }, { errno, effect });
      expect(problems).toEqual([]);
      counts.calls += calls;
      counts.states += states;
    }
    totals[`${errno}, ${name}`] = counts;
    expect(counts.calls).toBeGreaterThan(20);
  });
});

describe("a torn batch", { timeout: TIMEOUT_MS }, () => {
  it("I93 is left behind by the next opening, whatever a second power cut does to that, and later appends are intact (a 5th of the tears)", async () => {
    const torn = (await tornDisks()).filter((_, index) => index % TORN_EVERY === 0);
    for (const start of torn) {
      const before = readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, start);
      expect(before).toMatchObject({ kind: "ok" });
      await enumerate("repair of a torn tail", { start, steps: [{ do: "admit", ids: ["y"] }], recoverEvery: 0 });
    }
    totals["repair of a torn tail"] = { "torn tails": torn.length, ...totals["repair of a torn tail"] };
    expect(torn.length).toBeGreaterThan(10);
  });
});

/** Every distinct disk that a power cut leaves with a part of a batch. */
async function tornDisks(): Promise<SimulatedDisk[]> {
  const disk = new SimulatedDisk();
  const torn = new Map<string, SimulatedDisk>();
  let before = "";
  disk.onCall = (call) => {
    const states = before === "write" && CHANGING.has(call) ? [...disk.crashStates({ mixtures: 64 })] : [];
    before = call;
    for (const state of states) {
      const report = readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, state);
      if (report.kind === "ok" && report.tornBytes > 0) torn.set(fingerprint(state), state);
    }
  };
  await runWorkload(disk, tornBatch, new Ledger());
  return [...torn.values()];
}
