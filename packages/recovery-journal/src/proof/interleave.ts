import { CodedError } from "@holdfast/shared-process";
import type { FileSystem } from "../file-system.ts";
import type { CrashOptions } from "../testing/crash-states.ts";
import { watch } from "./enumerate.ts";
import type { Entry } from "./entry.ts";
import { Ledger } from "./ledger.ts";
import type { SecondRun, SecondWriter } from "./second-writer.ts";
import { SimulatedDisk } from "../testing/simulated-disk.ts";
import { callsOf, runWorkload, type Step } from "./workload.ts";

export interface InterleaveOptions {
  /** What the first writer does. */
  readonly steps: readonly Step[];
  /** What the second one does from its opening on; it begins other operations and may end the first one's. */
  readonly secondSteps: readonly Step[];
  readonly second: SecondWriter;
  readonly wrap?: ((disk: SimulatedDisk) => FileSystem) | undefined;
  readonly crash: CrashOptions;
  /** At every how many interleavings the power is also cut within the second writer's run, after each changing call. 0: never. */
  readonly cutWithinEvery: number;
}

export interface Interleavings {
  interleavings: number;
  /** Disks that a power cut may leave within the second writer's run, at its end, and at the first one's. */
  states: number;
  /** Acknowledgements of the second writer: without any, nothing was interleaved. */
  acknowledged: number;
  readonly problems: string[];
}

/** Runs two writers once for each call of the first: the second runs whole before that call, then the first goes on. */
export async function interleaveEverywhere(options: InterleaveOptions): Promise<Interleavings> {
  const found: Interleavings = { interleavings: 0, states: 0, acknowledged: 0, problems: [] };
  for (let place = 1; await interleaveAt(place, options, found); place += 1);
  return found;
}

interface Other {
  readonly run: SecondRun;
  /** At which call of the first writer. */
  readonly where: string;
}

/** `false` when the first writer makes no such call. */
async function interleaveAt(place: number, options: InterleaveOptions, found: Interleavings): Promise<boolean> {
  const disk = new SimulatedDisk();
  const first = new Ledger();
  /** What the first writer was told until it took the journal back: it is what the second one must have read. */
  let fenced: Ledger | null = null;
  const others: Other[] = [];
  const cut = (when: string, second: readonly Entry[]): void => {
    const ledger = first.copy();
    for (const entry of second) ledger.take(entry);
    for (const state of disk.crashStates({ ...options.crash, seed: place })) {
      found.states += 1;
      found.problems.push(...ledger.judgeDisk(state).map((problem) => `${when}: ${problem}`));
    }
  };
  let calls = 0;
  disk.onCall = (call, path) => {
    calls += 1;
    if (calls !== place) return;
    disk.onCall = null;
    const where = `at ${place} ${call} ${path}`;
    if (options.cutWithinEvery > 0 && place % options.cutWithinEvery === 0) {
      const asked = intentions(options.secondSteps);
      watch(disk, () => 0, { call: () => undefined, cut: (when) => cut(`${where}, second ${when}`, asked) });
    }
    const run = options.second.run(options.wrap?.(disk) ?? disk, options.secondSteps);
    disk.onCall = null;
    others.push({ run, where });
    cut(`${where}, the second writer is done`, run.entries);
  };
  const onOpened = (): void => {
    if (others.length > 0) fenced ??= first.copy();
  };
  try {
    await runWorkload(options.wrap?.(disk) ?? disk, options.steps, first, { onOpened });
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    found.problems.push(`at ${place}, the first writer ended by ${error.message}`);
  }
  disk.onCall = null;
  const [other] = others;
  if (other === undefined) return false;
  found.interleavings += 1;
  settle(found, fenced ?? first, other);
  cut(`${other.where}, the first writer went on`, other.run.entries);
  return true;
}

/** What a writer may have asked at any moment of its run. What it was told is known only at its end. */
function intentions(steps: readonly Step[]): readonly Entry[] {
  return steps.flatMap(callsOf).map((call, index) => ({ ask: `second ${index + 1}`, call }));
}

/** What the first writer was told is in what the second one read. */
function settle(found: Interleavings, first: Ledger, { run, where }: Other): void {
  found.acknowledged += run.entries.filter((entry) => "ack" in entry).length;
  if (run.error !== null) found.problems.push(`${where}, the second writer ended by ${run.error}`);
  if (run.read === null) return;
  found.problems.push(...first.judge(run.read).map((problem) => `${where}, behind the fence: ${problem}`));
}
