import { ProtocolError, STOP_NO_WAIT_MS } from "@holdfast/client/protocol";
import type { MethodParams, MethodResults, SessionRow } from "@holdfast/client/protocol";
import { verdictOf } from "@holdfast/session-worker/transport";
import { freshValues } from "../effects/context.ts";
import { killDelay } from "../lifecycle/parts.ts";
import { isEnding } from "../lifecycle/reduce.ts";
import { isStronger } from "../lifecycle/state.ts";
import type { Goal, State } from "../lifecycle/state.ts";
import { withRequest } from "../records.ts";
import type { RequestStamp } from "../registry-ports.ts";
import type { Services } from "./services.ts";
import { endWritten, goesOn, unwritten } from "./unwritten.ts";

/** A stop ends by its finalizer; what takes longer is shown as degraded and goes on by itself. */
const STOP_WAIT_MS = 10 * 60_000;
/** Every stop of an observable process is over by then. */
const UNKNOWN_AFTER_MS = 12_000;

export function stop(
  services: Services,
  { session, requestId, force = false, archive = false, wait }: MethodParams<"session/stop">,
): Promise<MethodResults["session/stop"]> {
  const { context, sessions, requests, lanes } = services;
  const order = { method: "session/stop", requestId, content: { session, force, archive } };
  return requests.once(order, async (stamp, repeated) => {
    const sessionId = repeated?.sessionId ?? sessions.actionable(session).sessionId;
    if (!repeated) {
      const requested = (): boolean =>
        requestStop(services, sessionId, { goal: archive ? "archive" : "stop", force }, stamp);
      // In its turn it may find what a resume has made that was asked for before it.
      if (!requested())
        await lanes.run(sessionId, async () => {
          if (requested()) return;
          await endWritten(context.registry, sessionId, "the stop");
          await rest(services, sessionId, { archive, stamp });
        });
    }
    await ended(services, sessionId, wait);
    const isUnderway = underway(services, sessionId, archive ? "archive" : "stop");
    const row = sessions.present(sessionId);
    return { answer: isUnderway ? withKillAt(services, row) : row, final: !isUnderway };
  });
}

/** Throws where a stop that is under way is not recorded yet: a power cut would forget it. */
function underway({ context: { registry } }: Services, sessionId: string, goal: Goal): boolean {
  const [published, newest] = [registry.published(sessionId), registry.newest(sessionId)];
  if (published === null || isRescinded(newest)) return false;
  if (!isEnding(published) || isStronger(goal, published.intent.goal)) throw goesOn(registry, sessionId, "the stop");
  return true;
}

/** Waits for the end; a process that cannot be observed is said, since nothing more can be done to it (I134). */
async function ended({ context }: Services, sessionId: string, wait: boolean): Promise<void> {
  const { registry, observer } = context;
  // A resume may win over the stop meanwhile: then there is no end to wait for.
  const isOver = (state: State | null): boolean => state === null || isRescinded(registry.newest(sessionId));
  const over = await registry.until(sessionId, isOver, wait ? UNKNOWN_AFTER_MS : STOP_NO_WAIT_MS);
  if (!wait || over !== "timeout") return;
  const problem = unwritten(registry, sessionId, "the stop");
  if (problem) throw problem;
  const state = registry.newest(sessionId);
  const process = state?.name === "stopping" ? state.process : null;
  const verdict = process && verdictOf(observer, process);
  if (verdict?.kind === "unknown") {
    const message = `process ${process?.identity.pid} cannot be observed (${verdict.why}): nothing was signalled`;
    throw new ProtocolError("worker_identity_unknown", message, {
      hint: "the stop goes on by itself once it can be told; agent doctor tells the way out",
    });
  }
  await registry.until(sessionId, isOver, STOP_WAIT_MS);
}

const isRescinded = (state: State | null): boolean => state !== null && !isEnding(state);

/** Dispatches the intent; true when something is under way. Counts it once. */
export function requestStop(
  { context }: Services,
  sessionId: string,
  order: { readonly goal: Goal; readonly force: boolean },
  request: RequestStamp | null = null,
): boolean {
  const fresh = freshValues(context, sessionId);
  const intent = { stopId: fresh.stopId, requestedAt: fresh.at, ...order };
  const decision = context.registry.dispatch(sessionId, { type: "stop", intent }, request);
  if (decision.kind === "deny") throw new ProtocolError(decision.code, decision.why);
  if (decision.kind === "move") context.counters.stops += 1;
  return decision.kind === "move" || decision.kind === "ignore";
}

/** A session without a registration: only what is wanted of it changes. */
async function rest(
  { context, records }: Services,
  sessionId: string,
  { archive, stamp }: { readonly archive: boolean; readonly stamp: RequestStamp },
): Promise<void> {
  const wanted = archive ? "archived" : "stopped";
  await records.rest(sessionId, (record) => {
    // A resume that came meanwhile has a registration of its own: it is not undone here.
    const resting = context.registry.newest(sessionId) === null;
    const changes = resting && record.wanted !== "archived" && record.wanted !== wanted;
    return changes ? { ...withRequest(record, stamp), wanted } : record;
  });
}

function withKillAt({ context }: Services, row: SessionRow): MethodResults["session/stop"] {
  const state = context.registry.newest(row.sessionId);
  if (state?.name !== "stopping" || state.due === null) return row;
  const { due, intent } = state;
  // A silent worker is sent SIGTERM first.
  const afterMs = due.timer === "kill" ? 0 : killDelay(intent);
  const inMs = due.at + afterMs - context.clock.monotonic();
  return { ...row, killAt: new Date(context.clock.now() + inMs).toISOString() };
}
