import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isRunning } from "./support/processes.ts";
import { errorCode, parseRow } from "./support/rows.ts";
import type { SessionRow } from "./support/rows.ts";
import { pause, waitFor } from "./support/wait-for.ts";
import { descriptorOf } from "./verbs/hold.ts";

/** A resume waits at most ten seconds for the old worker; after that the replacement goes on by itself. */
async function untilResumed(home: Home, { sessionId }: SessionRow): Promise<SessionRow> {
  const resumed = async (): Promise<SessionRow | null> => {
    const result = await home.agent(["session", "resume", sessionId, "--json"]);
    if (result.code === 0) return parseRow(result.stdout);
    expect([result.code, errorCode(result.stderr)]).toEqual([6, "worker_still_stopping"]);
    return null;
  };
  return await waitFor(resumed, "the resume succeeds", 30_000);
}

/** From the record of the stop to the supervisor's death: asked, SIGTERM sent (1 s), under way, before and after SIGKILL (7 s). */
const moments = [300, 1_500, 4_000, 6_500, 7_300];

it("I5 I130 a resume wins over the stop of a frozen worker, also when the supervisor is killed between them", async () => {
  await Promise.all(
    moments.map(async (delay) => {
      await using home = await Home.open();
      const row = await home.newSession("s");
      const worker = home.worker(row);
      home.freeze(worker);
      const stop = home.start(["stop", "s"]);
      await waitFor(() => descriptorOf(home, row)?.stop, "the stop has begun");
      await pause(delay);
      // First the client, which would ask a successor for the stop once more.
      stop.killGroup();
      await home.kill(home.daemon());
      const resumed = await untilResumed(home, row);
      expect([delay, resumed.state, isRunning(worker)]).toEqual([delay, "ready", false]);
      expect(resumed.pid).not.toBe(row.pid);
      const served = await home.agent(["prompt", "s", "echo served"]);
      expect([delay, served.code, served.stdout]).toEqual([delay, 0, "served\n"]);
      expect(home.worker(row).pid).toBe(resumed.pid);
    }),
  );
}, 120_000);
