import { describe, expect, it } from "vitest";
import { JournalModel, openSimulated, runWorkload, SimulatedDisk, type Step } from "../testing/index.ts";

const workloads: Record<string, readonly Step[]> = {
  "admits, notes and ends": [
    { do: "admit", ids: ["a"] },
    { do: "admit", ids: ["b", "c"], pad: 700 },
    { do: "note", ids: ["b"], pad: 30 },
    { do: "end", ids: ["a", "b"] },
    { do: "close" },
    { do: "reopen" },
    { do: "end", ids: ["c"] },
  ],
  "a takeover without a release": [
    { do: "admit", ids: ["a", "b"], pad: 1200 },
    { do: "end", ids: ["a"] },
    { do: "reopen" },
    { do: "admit", ids: ["c"] },
    { do: "end", ids: ["b"] },
    { do: "reopen" },
  ],
  compactions: [
    { do: "admit", ids: ["a"], pad: 5000 },
    { do: "admit", ids: ["b"], pad: 5000 },
    { do: "end", ids: ["a"] },
    { do: "note", ids: ["b"], pad: 6000 },
    { do: "end", ids: ["b"] },
    { do: "admit", ids: ["c"], pad: 5000 },
    { do: "end", ids: ["c"] },
    { do: "close" },
  ],
};

/** Thousands of disks: slow where others share the machine. */
const TIMEOUT_MS = 60_000;

describe.each(Object.entries(workloads))("a power cut during %s", { timeout: TIMEOUT_MS }, (_, steps) => {
  it("I70 I93 leaves every acknowledged record and no other, at every call and with every legal loss", async () => {
    const disk = new SimulatedDisk();
    const model = new JournalModel();
    const problems = new Set<string>();
    let states = 0;
    let calls = 0;
    const reopened: SimulatedDisk[] = [];
    let before = "";
    let version = "";
    disk.onCall = (call, path) => {
      calls += 1;
      const changed = CHANGING.has(before) || version !== model.version;
      before = call;
      version = model.version;
      if (!changed) return;
      for (const state of disk.crashStates({ cuts: 3, samples: 2, seed: calls })) {
        states += 1;
        const problem = model.judgeDisk(state);
        if (problem !== null) problems.add(`before ${call} ${path}: ${problem}`);
        if (states % 400 === 0) reopened.push(state);
      }
    };
    await runWorkload(disk, steps, model);
    disk.onCall = null;
    expect([...problems]).toEqual([]);
    expect(states).toBeGreaterThan(300);
    expect(model.judgeDisk(disk)).toBe(null);
    expect(model.begun.size).toBe(new Set(steps.flatMap((step) => (step.do === "admit" ? step.ids : []))).size);
    for (const state of reopened) expect(await crashAgainWhileOpening(state)).toEqual([]);
  });

  it.each([
    { errno: "EIO", effects: ["none", "all"] },
    { errno: "ENOSPC", effects: ["half"] },
  ] as const)(
    "I70 I141 loses nothing that was acknowledged when any one call fails: $errno",
    async ({ errno, effects }) => {
      const calls = await callsOf(steps);
      const problems: string[] = [];
      for (const [place, call] of calls.entries()) {
        const index = place + 1;
        for (const effect of effects) {
          // A call that changes nothing has no other effect than its error.
          if (effect !== "none" && !CHANGING.has(call)) continue;
          problems.push(...(await runWithFault(steps, { index, errno, effect })));
        }
      }
      expect(problems).toEqual([]);
      expect(calls.length).toBeGreaterThan(50);
    },
  );
});

/** After other calls the disk is what it was before them. */
const CHANGING = new Set(["open", "write", "fsync", "fdatasync", "ftruncate", "link", "unlink", "rename", "mkdir"]);

/** What is open must be the same before, and after, any crash within the open for writing. */
async function crashAgainWhileOpening(disk: SimulatedDisk): Promise<string[]> {
  const first = await openIds(disk.crashStates().next().value ?? disk);
  const problems = new Set<string>();
  disk.onCall = (call) => {
    if (call !== "unlink" && call !== "fsync" && call !== "link") return;
    for (const state of disk.crashStates({ cuts: 2, samples: 1, names: 3 })) check(state);
  };
  const check = (state: SimulatedDisk): void => {
    const model = new JournalModel();
    for (const id of first) model.asked.add(id);
    const problem = model.judgeDisk(state);
    if (problem !== null && !problem.includes("missing")) problems.add(problem);
  };
  const journal = await openSimulated(disk);
  expect(journal.open().map(({ operationId }) => operationId)).toEqual(first);
  return [...problems];
}

async function openIds(disk: SimulatedDisk): Promise<string[]> {
  const journal = await openSimulated(disk);
  return journal.open().map(({ operationId }) => operationId);
}

async function callsOf(steps: readonly Step[]): Promise<string[]> {
  const disk = new SimulatedDisk();
  const calls: string[] = [];
  disk.onCall = (call) => void calls.push(call);
  await runWorkload(disk, steps, new JournalModel());
  return calls;
}

async function runWithFault(
  steps: readonly Step[],
  fault: { index: number; errno: string; effect: "none" | "half" | "all" },
): Promise<string[]> {
  const disk = new SimulatedDisk();
  const model = new JournalModel();
  const where = { call: "" };
  let calls = 0;
  disk.onCall = (call, path) => {
    calls += 1;
    if (calls !== fault.index) return;
    where.call = `${call} ${path}`;
    disk.inject({ call, errno: fault.errno, effect: fault.effect });
  };
  await runWorkload(disk, steps, model);
  disk.onCall = null;
  const problems: string[] = [];
  for (const state of disk.crashStates({ cuts: 1, samples: 1, names: 2 })) {
    const problem = model.judgeDisk(state);
    if (problem !== null) problems.push(`${fault.errno} (${fault.effect}) at ${fault.index} ${where.call}: ${problem}`);
  }
  await openSimulated(disk);
  const problem = model.judgeDisk(disk);
  return problem === null ? problems : [...problems, `after opening again: ${problem}`];
}
