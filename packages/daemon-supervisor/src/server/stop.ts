import { ProtocolError, STOP_NO_WAIT_MS } from "@holdfast/client/protocol";
import type { MethodParams, MethodResults, SessionRow } from "@holdfast/client/protocol";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { freshValues } from "../effects/context.ts";
import { verdictOf } from "../verdict.ts";
import type { Goal, State } from "../lifecycle/state.ts";
import { checkEnvironment } from "./environment.ts";
import type { Services } from "./services.ts";
import { untilReady } from "./ready.ts";

/** A stop ends by its finalizer; what takes longer is shown as degraded and goes on by itself. */
const STOP_WAIT_MS = 10 * 60_000;
/** Every stop of an observable process is over by then. */
const UNKNOWN_AFTER_MS = 12_000;

export async function stop(
  services: Services,
  { session, force = false, archive = false, wait }: MethodParams<"session/stop">,
): Promise<MethodResults["session/stop"]> {
  const { context, sessions } = services;
  const record = sessions.actionable(session);
  const { sessionId } = record;
  requestStop(services, sessionId, { goal: archive ? "archive" : "stop", force });
  if (context.registry.newest(sessionId) === null) await rest(services, record, archive);
  await ended(services, sessionId, wait);
  return withKillAt(services, sessions.row(sessionId));
}

/** Waits for the end; a process that cannot be observed is said, since nothing more can be done to it (I134). */
async function ended({ context }: Services, sessionId: string, wait: boolean): Promise<void> {
  const { registry, observer } = context;
  // A resume may win over the stop meanwhile: then there is no end to wait for.
  const isOver = (state: State | null): boolean => state === null || isRescinded(registry.newest(sessionId));
  const over = await registry.until(sessionId, isOver, wait ? UNKNOWN_AFTER_MS : STOP_NO_WAIT_MS);
  if (!wait || over !== "timeout") return;
  const state = registry.newest(sessionId);
  const process = state?.name === "stopping" ? state.process : null;
  const verdict = process && verdictOf(observer, process);
  if (verdict?.kind === "unknown") {
    const message = `process ${process?.identity.pid} cannot be observed (${verdict.why}): nothing was signalled`;
    throw new ProtocolError("worker_identity_unknown", message, {
      hint: "the stop goes on by itself once it can be told",
    });
  }
  await registry.until(sessionId, isOver, STOP_WAIT_MS);
}

const isRescinded = (state: State | null): boolean =>
  state !== null && state.name !== "stopping" && state.name !== "finalizing";

/** Dispatches the intent; true when something is under way. Counts it once. */
export function requestStop({ context }: Services, sessionId: string, order: { goal: Goal; force: boolean }): boolean {
  const fresh = freshValues(context, sessionId);
  const intent = { stopId: fresh.stopId, requestedAt: fresh.at, ...order };
  const decision = context.registry.dispatch(sessionId, { type: "stop", intent });
  if (decision.kind === "deny") throw new ProtocolError(decision.code, decision.why);
  if (decision.kind === "move") context.counters.stops += 1;
  return decision.kind === "move" || decision.kind === "ignore";
}

/** A session without a registration: only what is wanted of it changes. */
async function rest({ context, records }: Services, { sessionId }: SessionRecord, archive: boolean): Promise<void> {
  const wanted = archive ? "archived" : "stopped";
  await records.rest(sessionId, (record) => {
    // A resume that came meanwhile has a registration of its own: it is not undone here.
    const resting = context.registry.newest(sessionId) === null;
    return resting && record.wanted !== "archived" ? { ...record, wanted } : record;
  });
}

function withKillAt({ context }: Services, row: SessionRow): MethodResults["session/stop"] {
  const due = context.registry.newest(row.sessionId)?.due;
  if (row.state !== "stopping" || due?.timer !== "kill") return row;
  const inMs = due.at - context.clock.monotonic();
  return { ...row, killAt: new Date(context.clock.now() + inMs).toISOString() };
}

/** The explicit way back (I129): from stopped, archived, failed, passivated, and over a stop that is under way. */
export async function resume(
  services: Services,
  params: MethodParams<"session/resume">,
): Promise<MethodResults["session/resume"]> {
  const { context, sessions } = services;
  checkEnvironment({}, params.secretEnvironment);
  const { sessionId } = sessions.actionable(params.session);
  if (params.secretEnvironment)
    context.secrets.set(sessionId, { ...context.secrets.get(sessionId), ...params.secretEnvironment });
  const fresh = freshValues(context, sessionId);
  if (context.registry.newest(sessionId) === null) {
    // Its last registration may still be writing its end; the new one must not be written before it.
    await context.registry.until(sessionId, (state) => state === null, STOP_WAIT_MS);
    if (fresh.missingEnvironment.length > 0) throw missing(fresh.missingEnvironment);
    await services.ender.settleLeftover(sessionId);
    if (context.registry.newest(sessionId) === null) {
      const { generation } = fresh;
      context.registry.enroll(sessionId, { name: "launching", generation, launches: [], due: null }, [
        { type: "spawn", generation },
      ]);
    }
  } else {
    const decision = context.registry.dispatch(sessionId, { type: "resume", fresh });
    if (decision.kind === "deny") throw missing(fresh.missingEnvironment);
    if (!(await context.registry.drained({ sessionId })))
      throw new ProtocolError("timeout", "the session's records take long to be written; the resume goes on", {
        hint: "agent session show tells how far it is",
      });
  }
  return { ...(await untilReady(services, sessionId)), created: false };
}

const missing = (names: readonly string[]): ProtocolError =>
  new ProtocolError("needs_fresh_environment", `values are missing that are never stored: ${names.join(", ")}`, {
    hint: `agent session resume S ${names.map((name) => `--env ${name}`).join(" ")}`,
    data: { names: [...names] },
  });
