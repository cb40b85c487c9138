import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { loadJournal, loadSupervisor, workerProgram } from "../support/built.ts";
import type { LoopReport } from "../support/slow-disk.ts";

/**
 * The supervisor of a home, the built code on the real disk, but each sync takes so much longer: what `main.ts` passes on as its file
 * system is one object, and its four syncs are replaced before the supervisor starts. Workers are the built ones.
 */
const [home = "", stallMs = "0"] = process.argv.slice(2);
const stall = Number(stallMs);

const { nodeFileSystem } = await loadJournal();
const real = { ...nodeFileSystem };
const syncs = { inTheLoop: 0, aside: 0 };

/** A disk that stands still holds whoever waits for it in the loop. */
function hold(): void {
  syncs.inTheLoop += 1;
  if (stall > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stall);
}
async function wait(): Promise<void> {
  syncs.aside += 1;
  if (stall > 0) await new Promise((resolve) => setTimeout(resolve, stall));
}

nodeFileSystem.fdatasync = (fd) => {
  hold();
  real.fdatasync(fd);
};
nodeFileSystem.fsync = (fd) => {
  hold();
  real.fsync(fd);
};
nodeFileSystem.fdatasyncAsync = async (fd) => {
  await wait();
  await real.fdatasyncAsync(fd);
};
nodeFileSystem.fsyncAsync = async (fd) => {
  await wait();
  await real.fsyncAsync(fd);
};

const NS_PER_MS = 1e6;
let histogram: IntervalHistogram | null = null;

process.on("message", (message) => {
  if (message === "begin") {
    syncs.inTheLoop = 0;
    syncs.aside = 0;
    histogram = monitorEventLoopDelay({ resolution: 1 });
    histogram.enable();
    return;
  }
  histogram?.disable();
  const report: LoopReport = {
    p99Ms: (histogram?.percentile(99) ?? Number.NaN) / NS_PER_MS,
    maxMs: (histogram?.max ?? Number.NaN) / NS_PER_MS,
    ...syncs,
  };
  process.send?.(report);
});

const { runSupervisor } = await loadSupervisor();
process.exit(await runSupervisor({ home, workerProgram, foreground: false }));
