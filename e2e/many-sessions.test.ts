import { expect, it } from "vitest";
import { Home } from "./support/home.ts";
import { isFrozen, isRunning, signal } from "./support/processes.ts";
import type { SessionRow } from "./support/rows.ts";
import { waitFor } from "./support/wait-for.ts";

/** The benchmark `supervisor killed` has 50. */
const SESSIONS = 16;
const SIDE_BY_SIDE = 4;

async function createAll(home: Home): Promise<readonly SessionRow[]> {
  const rows: SessionRow[] = [];
  const names = Array.from({ length: SESSIONS }, (_, index) => `s${index}`);
  const lane = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) rows.push(await home.newSession(name));
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  return rows;
}

const pids = (rows: readonly SessionRow[]): string[] =>
  rows.map(({ sessionId, pid }) => `${sessionId} ${pid}`).toSorted();

it("I135 I169 16 sessions, one frozen: a successor adopts the others while it is frozen, and that one when it thaws", async () => {
  await using home = await Home.open();
  const rows = await createAll(home);
  const frozen = rows[7]!;
  const worker = home.worker(frozen);
  home.freeze(worker);
  await waitFor(() => isFrozen(worker), "the worker is frozen");
  await home.kill(home.daemon());
  const adopted = async (): Promise<readonly SessionRow[] | null> => {
    const ready = (await home.list()).filter(({ state }) => state === "ready");
    return ready.length >= SESSIONS - 1 ? ready : null;
  };
  const ready = await waitFor(adopted, "the others are adopted", 15_000);
  expect(isFrozen(worker)).toBe(true);
  expect(ready).toHaveLength(SESSIONS - 1);
  expect(pids(ready)).toEqual(pids(rows.filter(({ sessionId }) => sessionId !== frozen.sessionId)));
  expect((await home.show(frozen.sessionId)).state).toBe("recovering");
  expect((await home.ok(["prompt", "s3", "echo served"])).stdout).toBe("served\n");
  signal(worker, "SIGCONT");
  expect(await home.untilState(frozen.sessionId, "ready")).toMatchObject({ pid: frozen.pid });
  expect(isRunning(worker)).toBe(true);
}, 180_000);
