import type { Bench, Benchmark } from "../support/bench.ts";
import { Home } from "../support/home.ts";
import { type LoopReport, SlowDiskSupervisor } from "../support/slow-disk.ts";

const NAME = "supervisor loop gap, p99, with stalled syncs";
const SESSIONS = 20;
/** More at once would measure how many processes want the cores, and not what the supervisor waits for. */
const TOGETHER = 2;
const STALL_MS = 100;

export const loopGapBenchmark: Benchmark = {
  names: [NAME],
  run: async (bench) => {
    const undisturbed = await gaps(bench, 0);
    const stalled = await gaps(bench, STALL_MS);
    bench.report({
      name: NAME,
      unit: "ms",
      value: stalled.p99Ms,
      floor: undisturbed.p99Ms,
      target: { of: "value", atMost: 30 },
      note:
        `each sync of the supervisor takes ${STALL_MS} ms more, while ${SESSIONS} sessions are created, ${TOGETHER} at a time, and prompted; floor: without; ` +
        `longest gap ${stalled.maxMs.toFixed(0)} ms (without ${undisturbed.maxMs.toFixed(0)} ms); ` +
        `${stalled.inTheLoop} syncs in the loop, ${stalled.aside} aside`,
    });
  },
};

async function gaps(bench: Bench, stallMs: number): Promise<LoopReport> {
  await using home = new Home();
  await using supervisor = await SlowDiskSupervisor.start(home, stallMs);
  const client = await home.client();
  await client.call("daemon/status", {});
  const report = await supervisor.during(async () => {
    const sessions = await home.newSessions(client, SESSIONS, TOGETHER);
    const prompt = (session: string): Promise<unknown> =>
      client.call("session/prompt", { requestId: crypto.randomUUID(), session, text: "echo done" });
    await Promise.all(sessions.map(({ sessionId }) => prompt(sessionId)));
  });
  bench.say(`  stalls of ${stallMs} ms: ${JSON.stringify(report)}`);
  return report;
}
