import { ProtocolError, sessionStates } from "@holdfast/client/protocol";
import type { DaemonStatus, MethodParams, MethodResults, SessionState } from "@holdfast/client/protocol";
import { startIdOf } from "@holdfast/shared-process";
import { VERSION } from "@holdfast/client/protocol";
import type { State } from "../lifecycle/state.ts";
import { isLive } from "../rows.ts";
import { RELEASE_MS } from "../times.ts";
import type { Services } from "./services.ts";
import { requestStop } from "./stop.ts";

/** A passivation ends by the same finalizer as a stop; a daemon that is told to end does not wait for it beyond this. */
const PASSIVATE_WAIT_MS = 15_000;

export function daemonStatus({ context, sessions, socketPath, status }: Services): DaemonStatus {
  const states: Partial<Record<SessionState, number>> = {};
  const rows = sessions.rows();
  for (const state of sessionStates) {
    const count = rows.filter((row) => row.state === state).length;
    if (count > 0) states[state] = count;
  }
  return {
    home: context.home,
    pid: context.self.pid,
    startId: startIdOf(context.self),
    epoch: context.epoch,
    version: VERSION,
    status: status(),
    socketPath: socketPath() ?? "",
    sessions: states,
    counters: { ...context.counters },
  };
}

/** Passivates what is idle and ends the daemon; busy sessions are named, interrupted or kept, as asked. */
export function stopDaemon(
  services: Services,
  { mode, requestId }: MethodParams<"daemon/stop">,
): Promise<MethodResults["daemon/stop"]> {
  return services.requests.once({ method: "daemon/stop", requestId, content: { mode } }, async () => {
    if (mode !== "keep_workers") await passivateAll(services, mode === "force");
    const answer = { stopped: true, pid: services.context.self.pid } as const;
    const shutdown = (): void => services.shutdown("asked to");
    // A disk that stands still must not keep the daemon from ending.
    services.context.clock.setTimer(RELEASE_MS, shutdown, { background: true });
    return { answer, final: true, after: shutdown };
  });
}

async function passivateAll(services: Services, force: boolean): Promise<void> {
  const { registry } = services.context;
  const busy = services.sessions
    .rows()
    .filter(({ state, activity, openOperations }) => isLive(state) && (activity !== "idle" || openOperations > 0));
  if (busy.length > 0 && !force) throw daemonBusy(busy.map(({ name, sessionId }) => name ?? sessionId));
  const asked = registry.sessionIds().filter((sessionId) => canPassivate(registry.newest(sessionId)));
  for (const sessionId of asked) requestStop(services, sessionId, { goal: "passivate", force });
  // The stop is counted from its intent: `ready` before that is not the worker's refusal.
  await Promise.all(asked.map((sessionId) => registry.drained({ sessionId })));
  await Promise.all(asked.map((sessionId) => registry.until(sessionId, over, PASSIVATE_WAIT_MS)));
  const refused = asked.filter((sessionId) => registry.published(sessionId)?.name === "ready");
  if (refused.length > 0 && !force)
    throw daemonBusy(refused.map((sessionId) => services.sessions.row(sessionId).name ?? sessionId));
}

const canPassivate = (state: State | null): boolean =>
  state?.name === "ready" || (state?.name === "stopping" && state.intent.goal === "passivate");

const over = (state: State | null): boolean => state === null || state.name === "passivated" || state.name === "ready";

const daemonBusy = (names: readonly string[]): ProtocolError =>
  new ProtocolError("daemon_busy", `sessions are working: ${names.join(", ")}`, {
    hint: "agent daemon stop --force interrupts them, --keep-workers leaves them running",
    data: { sessions: [...names] },
  });
