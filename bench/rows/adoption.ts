import { setTimeout as sleep } from "node:timers/promises";
import type { Client, SessionRow } from "../../packages/client/src/index.ts";
import { loadClient } from "../support/built.ts";
import { type Home, kill } from "../support/home.ts";

const POLL_MS = 2;
const GIVE_UP_MS = 30_000;

/**
 * Kills the supervisor and gives the milliseconds from the start of the next command until these sessions are `ready` in the list of
 * the daemon that it started.
 */
export async function adoptedAfterKill(home: Home, sessions: readonly SessionRow[]): Promise<number> {
  await kill(await home.daemon());
  const from = performance.now();
  const command = home.agent("session", "list");
  // A failure is told by the second wait.
  command.catch(() => undefined);
  const client = await connected(home);
  try {
    const ids = new Set(sessions.map(({ sessionId }) => sessionId));
    for (;;) {
      const { sessions: rows } = await client.call("session/list", {});
      const ready = rows.filter(({ sessionId, state }) => ids.has(sessionId) && state === "ready");
      const elapsedMs = performance.now() - from;
      if (ready.length === sessions.length) return elapsedMs;
      if (elapsedMs > GIVE_UP_MS) throw new Error(`${ready.length} of ${sessions.length} sessions are ready`);
      await sleep(POLL_MS);
    }
  } finally {
    await command;
    client.close();
  }
}

/** A client of the successor, as soon as one serves. */
async function connected(home: Home): Promise<Client> {
  const { findOwner } = await loadClient();
  const killed = findOwner(home.path);
  const epoch = killed.kind === "found" ? killed.record.epoch : 0;
  const deadline = performance.now() + GIVE_UP_MS;
  while (performance.now() < deadline) {
    const owner = findOwner(home.path);
    if (owner.kind === "found" && owner.record.epoch > epoch && owner.record.phase === "serving") return home.client();
    await sleep(POLL_MS);
  }
  throw new Error("no successor serves");
}
