import type { Supervisor } from "../compose.ts";
import { freshValues } from "../effects/context.ts";
import type { Registry } from "../registry.ts";
import type { Work } from "./force-stop-home.ts";

/**
 * For each phase of a forced stop on a machine under load: the signals take 1.5 s, a sweep 3 s, a clean-up that failed comes
 * again after 5 s, and processes that cannot be listed are waited for 10 s.
 */
const PHASE_MS = 20_000;

/** Stops what a boot for maintenance registers, all side by side. */
export async function stopSessions({ boot, context }: Supervisor, { report, progress }: Work): Promise<void> {
  const { registry } = context;
  boot();
  const asked = registry.sessionIds().map((sessionId) => {
    const state = registry.newest(sessionId);
    const isProven = state === null || state.name === "finalizing" || state.name === "recovering";
    const pid = isProven || !("process" in state) ? null : (state.process?.identity.pid ?? null);
    const { stopId, at } = freshValues(context, sessionId);
    registry.dispatch(sessionId, { type: "stop", intent: { stopId, requestedAt: at, goal: "stop", force: true } });
    return { kind: isProven ? "descriptor" : "worker", id: sessionId, pid } as const;
  });
  await Promise.all(
    asked.map(async (target) => {
      const stuck = await stuckIn(registry, target.id);
      if (stuck === null) report.stopped.push(target);
      else report.failed.push({ ...target, reason: reasonFor(stuck) });
      const what = target.kind === "worker" ? `worker of ${target.id}` : `what is left of ${target.id}`;
      progress(`${what}: ${stuck === null ? "stopped" : reasonFor(stuck)}`);
    }),
  );
}

const reasonFor = (state: string): string =>
  state === "finalizing"
    ? "its process is gone, its clean-up is not over: the next daemon goes on with it"
    : "its process has not ended: the next daemon goes on with it";

/** The state in which a stop did not move on within its time; `null` when it is over. */
async function stuckIn(registry: Registry, sessionId: string): Promise<string | null> {
  for (;;) {
    const state = registry.published(sessionId);
    if (state === null) return null;
    const next = await registry.until(sessionId, (now) => now?.name !== state.name, PHASE_MS);
    if (next === "timeout") return state.name;
  }
}
