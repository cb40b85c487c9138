import { CodedError } from "@holdfast/shared-process";
import type { FileSystem } from "../file-system.ts";
import { readJournal } from "../journal/read.ts";
import type { CrashOptions } from "../testing/crash-states.ts";
import { SIMULATED_DIRECTORY, SIMULATED_KINDS } from "../testing/open-simulated.ts";
import { type CallName, SimulatedDisk } from "../testing/simulated-disk.ts";
import { Ledger } from "./ledger.ts";
import { runWorkload, type Step, type WorkloadOptions } from "./workload.ts";

/** What an enumeration went through, and what it found. */
export interface Enumeration {
  /** Calls of the code under test. */
  calls: number;
  /** Disks that a power cut may leave. */
  states: number;
  /** Those of them that were opened for writing, with a second power cut at every changing call. */
  recoveries: number;
  /** Disks that the second power cut may leave. */
  nested: number;
  readonly problems: string[];
}

export interface EnumerateOptions {
  readonly steps: readonly Step[];
  /** The disk to start from. Default: an empty one. */
  readonly start?: SimulatedDisk;
  /** What stands between the code and the disk: a broken variant. */
  readonly wrap?: ((disk: SimulatedDisk) => FileSystem) | undefined;
  /** A journal of which a call is broken. */
  readonly breakCalls?: WorkloadOptions["breakCalls"];
  readonly crash: CrashOptions;
  /** Every how many distinct crash states one is recovered with a second crash: 1 is all of them, 0 none. */
  readonly recoverEvery: number;
}

/** After other calls the disk is what it was before them. */
export const CHANGING: ReadonlySet<CallName> = new Set([
  "open",
  "write",
  "fsync",
  "fdatasync",
  "ftruncate",
  "link",
  "unlink",
  "rename",
  "mkdir",
  "rmdir",
]);

/** Runs a workload with a power cut after every call that changes something, and a second one in the recovery from it. */
export async function enumerateCrashes(options: EnumerateOptions): Promise<Enumeration> {
  const disk = options.start ?? new SimulatedDisk();
  const ledger = Ledger.of(readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, disk));
  const found: Enumeration = { calls: 0, states: 0, recoveries: 0, nested: 0, problems: [] };
  const chosen: SimulatedDisk[] = [];
  const seen = new Set<string>();
  const cut = (where: string): void => {
    for (const state of disk.crashStates({ ...options.crash, seed: (options.crash.seed ?? 0) + found.calls })) {
      found.states += 1;
      const problems = ledger.judgeDisk(state);
      found.problems.push(...problems.map((problem) => `${where}: ${problem}`));
      if (options.recoverEvery === 0 || problems.length > 0) continue;
      const key = `${fingerprint(state)} ${ledger.version}`;
      if (seen.has(key)) continue;
      seen.add(key);
      if (seen.size % options.recoverEvery === 0) chosen.push(state);
    }
  };
  watch(disk, () => ledger.version, { call: () => (found.calls += 1), cut });
  const { steps, breakCalls } = options;
  await guarded(found, () => runWorkload(options.wrap?.(disk) ?? disk, steps, ledger, { breakCalls }));
  disk.onCall = null;
  cut("at the end");
  for (const state of chosen) await recover(found, state, options);
  return found;
}

/** Opens a crashed disk and appends, with a power cut after every call that changes something. Nothing that was read may change. */
async function recover(found: Enumeration, disk: SimulatedDisk, options: EnumerateOptions): Promise<void> {
  found.recoveries += 1;
  const ledger = Ledger.of(readJournal(SIMULATED_DIRECTORY, SIMULATED_KINDS, disk));
  const cut = (where: string): void => {
    for (const state of disk.crashStates({ cuts: 2, samples: 1, mixtures: 4, names: 4, seed: found.nested })) {
      found.nested += 1;
      found.problems.push(...ledger.judgeDisk(state).map((problem) => `in recovery, ${where}: ${problem}`));
    }
  };
  watch(disk, () => ledger.version, { call: () => undefined, cut });
  await guarded(found, async () => {
    await runWorkload(options.wrap?.(disk) ?? disk, [{ do: "admit", ids: ["z"] }], ledger);
  });
  disk.onCall = null;
  if (ledger.acknowledged === 0) found.problems.push("a crashed journal takes no record");
  cut("at the end");
}

/** Has `cut` called after each call that changed the disk and each change of what was acknowledged: before the next call. */
export function watch(
  disk: SimulatedDisk,
  version: () => number,
  on: { readonly call: () => void; readonly cut: (where: string) => void },
): void {
  let before: CallName | null = null;
  let known = version();
  disk.onCall = (call, path) => {
    on.call();
    const changed = (before !== null && CHANGING.has(before)) || known !== version();
    before = call;
    known = version();
    if (changed) on.cut(`before ${call} ${path}`);
  };
}

/** A broken variant may end in an error that no workload expects: that is found, too. */
async function guarded(found: { readonly problems: string[] }, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    found.problems.push(`ended by ${error.code}: ${error.message}`);
  }
}

/** The journal's files as a reader sees them. */
export function fingerprint(disk: SimulatedDisk): string {
  if (!disk.exists(SIMULATED_DIRECTORY)) return "";
  return disk
    .readdir(SIMULATED_DIRECTORY)
    .map((name) => `${name}\n${disk.contentOf(`${SIMULATED_DIRECTORY}/${name}`).toString("latin1")}`)
    .join("\n");
}

export interface Fault {
  readonly errno: string;
  readonly effect: "none" | "half" | "all";
}

/** Fails every call of a workload in turn, each in a run of its own, with a power cut at its end; then opens again. */
export async function enumerateFaults(
  options: Pick<EnumerateOptions, "steps" | "wrap" | "crash">,
  fault: Fault,
): Promise<Pick<Enumeration, "calls" | "states" | "problems">> {
  const found = { calls: 0, states: 0, problems: [] as string[] };
  const calls: CallName[] = [];
  const dry = new SimulatedDisk();
  dry.onCall = (call) => void calls.push(call);
  await guarded(found, () => runWorkload(options.wrap?.(dry) ?? dry, options.steps, new Ledger()));
  for (const [place, call] of calls.entries()) {
    // A call that changes nothing has no other effect than its error.
    if (fault.effect !== "none" && !CHANGING.has(call)) continue;
    found.calls += 1;
    await failOne(found, options, { ...fault, index: place + 1 });
  }
  return found;
}

async function failOne(
  found: { states: number; readonly problems: string[] },
  options: Pick<EnumerateOptions, "steps" | "wrap" | "crash">,
  fault: Fault & { readonly index: number },
): Promise<void> {
  const disk = new SimulatedDisk();
  const ledger = new Ledger();
  let where = "";
  let calls = 0;
  disk.onCall = (call, path) => {
    calls += 1;
    if (calls !== fault.index) return;
    where = `${fault.errno} (${fault.effect}) at ${fault.index} ${call} ${path}`;
    disk.inject({ call, errno: fault.errno, effect: fault.effect });
  };
  const fs = options.wrap?.(disk) ?? disk;
  await guarded(found, () => runWorkload(fs, options.steps, ledger));
  disk.onCall = null;
  for (const state of disk.crashStates(options.crash)) {
    found.states += 1;
    found.problems.push(...ledger.judgeDisk(state).map((problem) => `${where}: ${problem}`));
  }
  await guarded(found, () => runWorkload(fs, [], ledger));
  found.problems.push(...ledger.judgeDisk(disk).map((problem) => `${where}, after opening again: ${problem}`));
}
