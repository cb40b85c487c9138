import { execFileSync } from "node:child_process";
import { closeSync, openSync, readSync } from "node:fs";
import type { OpenResult, ProcessIdentity, ProcessObserver } from "../../packages/shared-process/src/index.ts";
import type { Bench, Benchmark } from "../support/bench.ts";
import { loadSharedProcess } from "../support/built.ts";
import { end, start } from "../support/children.ts";
import { median } from "../support/measure.ts";
import { openRawPidfd } from "../support/raw-pidfd.ts";
import type { Target } from "../support/row.ts";

const STORED = "verdict of a stored identity";
const HELD = "verdict of a held handle";
const STORED_NARROW = "verdict of a stored identity, narrow mode";
const HELD_NARROW = "verdict of a held handle, narrow mode";
const KILL_0 = "for comparison: process.kill(pid, 0)";
const PS = "for comparison: ps -o lstart=";
/** So few that most batches are over before the scheduler gives the core to another program, also those of slow calls. */
const PER_BATCH = 25;
const US_PER_MS = 1_000;
/** What a look without the library may take: one open, one read, and parsing by bytes, beside kill(2) and a link. */
const NARROW_TARGET_US = 25;

export const verdictBenchmark: Benchmark = {
  names: [STORED, HELD, STORED_NARROW, HELD_NARROW, KILL_0, PS],
  run: async (bench) => {
    const child = start(["sleep", "600"], { stdio: "ignore" });
    try {
      await measure(bench, child.pid ?? 0);
    } finally {
      await end(child);
    }
  },
};

/** What the machine itself takes, and no rows of their own. */
const POLL = "poll(2) of a held pidfd";
const FILE = "open, read and close of its stat file";

const reported: readonly { readonly name: string; readonly floor: string; readonly target?: Target }[] = [
  { name: STORED, floor: POLL, target: { of: "ratio", atMost: 20 } },
  { name: HELD, floor: POLL, target: { of: "ratio", atMost: 2 } },
  { name: STORED_NARROW, floor: FILE, target: { of: "value", atMost: NARROW_TARGET_US } },
  { name: HELD_NARROW, floor: FILE },
  { name: KILL_0, floor: POLL },
  { name: PS, floor: POLL },
];

async function measure(bench: Bench, pid: number): Promise<void> {
  const { createObserver } = await loadSharedProcess();
  const withLibrary = createObserver();
  const { backend, reason } = withLibrary.capabilities();
  if (backend !== "linux-pidfd") throw new Error(`the back-end is ${backend}: ${reason}`);
  using raw = openRawPidfd(pid);
  const strong = look(withLibrary, pid);
  const narrow = look(createObserver({ library: "never" }), pid);
  using held = strong.handle;
  using heldNarrow = narrow.handle;
  // Each says whether the process runs.
  const calls = new Map<string, () => boolean>([
    [POLL, () => !raw.poll(0)],
    [STORED, () => strong.verdict().kind === "current"],
    [HELD, () => held.verdict().kind === "current"],
    [FILE, () => readOnce(`/proc/${pid}/stat`) > 0],
    [STORED_NARROW, () => narrow.verdict().kind === "current"],
    [HELD_NARROW, () => heldNarrow.verdict().kind === "current"],
    [KILL_0, () => process.kill(pid, 0)],
  ]);
  const found = medians(bench.quick ? 160 : 800, calls);
  if (bench.wants(PS)) found.set(PS, median(Array.from({ length: bench.rounds }, () => askPs(pid))));
  for (const { name, floor, target } of reported) {
    const [value, floorValue] = [found.get(name), found.get(floor)];
    if (value === undefined || floorValue === undefined) continue;
    bench.report({ name, unit: "µs", value, floor: floorValue, ...(target && { target }), note: `floor: ${floor}` });
  }
}

interface Look {
  readonly handle: Extract<OpenResult, { kind: "opened" }>["handle"];
  readonly verdict: () => ReturnType<ProcessObserver["verdict"]>;
}

function look(observer: ProcessObserver, pid: number): Look {
  const seen = observer.identify(pid);
  if (seen.kind !== "identified") throw new Error(`the process cannot be identified: ${seen.why}`);
  // As read from a record, not as it was observed.
  const identity: ProcessIdentity = JSON.parse(JSON.stringify(seen.identity));
  const opened = observer.open(identity);
  if (opened.kind !== "opened") throw new Error(`the process cannot be held: ${opened.kind}`);
  return { handle: opened.handle, verdict: () => observer.verdict(identity) };
}

/** Microseconds. In turn, batch by batch, so that a machine that becomes slower meanwhile is slower for all. */
function medians(batches: number, calls: ReadonlyMap<string, () => boolean>): Map<string, number> {
  const times = new Map([...calls.keys()].map((name): [string, number[]] => [name, []]));
  for (let batch = 0; batch < batches; batch += 1)
    for (const [name, call] of calls) times.get(name)?.push(timeOf(name, call));
  return new Map([...times].map(([name, values]) => [name, median(values)]));
}

function timeOf(name: string, runs: () => boolean): number {
  const from = performance.now();
  for (let done = 0; done < PER_BATCH; done += 1)
    if (!runs()) throw new Error(`${name}: the process runs, and it says otherwise`);
  return ((performance.now() - from) / PER_BATCH) * US_PER_MS;
}

const buffer = Buffer.allocUnsafe(4_096);

function readOnce(path: string): number {
  const fd = openSync(path, "r");
  const length = readSync(fd, buffer);
  closeSync(fd);
  return length;
}

/** As it is usually done, by a process for each question; its answer depends on time zone and locale. */
function askPs(pid: number): number {
  const from = performance.now();
  execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
    env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC0" },
  });
  return (performance.now() - from) * US_PER_MS;
}
