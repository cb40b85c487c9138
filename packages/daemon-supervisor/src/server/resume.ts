import { ProtocolError } from "@holdfast/client/protocol";
import type { MethodParams, MethodResults, SessionRow } from "@holdfast/client/protocol";
import { freshValues } from "../effects/context.ts";
import type { RequestStamp } from "../registry.ts";
import { checkEnvironment } from "./environment.ts";
import { untilReady } from "./ready.ts";
import type { Services } from "./services.ts";

/** For the last registration of a session to write its end. */
const END_WRITTEN_MS = 10 * 60_000;

/** The explicit way back (I129): from stopped, archived, failed, passivated, and over a stop that is under way. */
export function resume(
  services: Services,
  { session, requestId, secretEnvironment }: MethodParams<"session/resume">,
): Promise<MethodResults["session/resume"]> {
  const { context, sessions, requests, lanes } = services;
  checkEnvironment({}, secretEnvironment);
  const content = { session, secretNames: Object.keys(secretEnvironment ?? {}).toSorted() };
  return requests.once({ method: "session/resume", requestId, content }, async (stamp, repeated) => {
    const sessionId = repeated?.sessionId ?? sessions.actionable(session).sessionId;
    if (secretEnvironment) context.secrets.set(sessionId, { ...context.secrets.get(sessionId), ...secretEnvironment });
    if (!repeated) await lanes.run(sessionId, () => bringBack(services, sessionId, stamp));
    return { answer: { ...(await untilReady(services, sessionId)), created: false }, final: true };
  });
}

/** An operator's: recovers now what recovers later or not at all, and leaves alone what nobody has to recover. */
export function retry(
  services: Services,
  { session, requestId }: MethodParams<"session/retry">,
): Promise<MethodResults["session/retry"]> {
  const { context, sessions, requests, lanes, names } = services;
  const { registry } = context;
  return requests.once({ method: "session/retry", requestId, content: { session } }, async (stamp, repeated) => {
    const sessionId = repeated?.sessionId ?? sessions.actionable(session).sessionId;
    if (!repeated) {
      await lanes.run(sessionId, async () => {
        const { name, parentId } = sessions.actionable(sessionId);
        if (registry.newest(sessionId) === null) throw notRunning(services, sessionId);
        await names.holding(parentId === null ? name : null, sessionId, () =>
          dispatchResume(services, sessionId, { by: "retry", stamp }),
        );
      });
    }
    const rests = registry.published(sessionId)?.name === "passivated";
    const answer: SessionRow = rests ? sessions.present(sessionId) : await untilReady(services, sessionId);
    return { answer, final: true };
  });
}

async function bringBack(services: Services, sessionId: string, stamp: RequestStamp): Promise<void> {
  const { context, names, sessions } = services;
  const { registry } = context;
  const { name, parentId } = sessions.actionable(sessionId);
  // While it was archived, or is being archived, somebody else may have taken its name.
  await names.holding(parentId === null ? name : null, sessionId, async () => {
    if (registry.newest(sessionId) !== null) return await dispatchResume(services, sessionId, { by: "resume", stamp });
    // Its last registration may still be writing its end; the new one must not be written before it.
    await registry.until(sessionId, (state) => state === null, END_WRITTEN_MS);
    const fresh = freshValues(context, sessionId);
    if (fresh.missingEnvironment.length > 0) throw missing(fresh.missingEnvironment);
    await services.ender.settleLeftover(sessionId);
    if (registry.newest(sessionId) !== null) return;
    const { generation } = fresh;
    const launching = { name: "launching", generation, launches: [], due: null } as const;
    registry.enroll(sessionId, launching, [{ type: "spawn", generation }], stamp);
    await drained(services, sessionId);
  });
}

async function dispatchResume(
  services: Services,
  sessionId: string,
  { by, stamp }: { readonly by: "resume" | "retry"; readonly stamp: RequestStamp },
): Promise<void> {
  const fresh = freshValues(services.context, sessionId);
  const decision = services.context.registry.dispatch(sessionId, { type: "resume", by, fresh }, stamp);
  if (decision.kind === "deny") throw missing(fresh.missingEnvironment);
  await drained(services, sessionId);
}

async function drained({ context }: Services, sessionId: string): Promise<void> {
  if (await context.registry.drained({ sessionId })) return;
  throw new ProtocolError("timeout", "the session's records take long to be written; the resume goes on", {
    hint: "agent session show tells how far it is",
  });
}

function notRunning({ context }: Services, sessionId: string): ProtocolError {
  const archived = context.catalog.get(sessionId)?.wanted === "archived";
  return new ProtocolError(
    archived ? "session_archived" : "session_stopped",
    `the session is ${archived ? "archived" : "stopped"}: there is nothing to recover`,
    { hint: `agent session resume ${sessionId}` },
  );
}

const missing = (names: readonly string[]): ProtocolError =>
  new ProtocolError("needs_fresh_environment", `values are missing that are never stored: ${names.join(", ")}`, {
    hint: `agent session resume S ${names.map((name) => `--env ${name}`).join(" ")}`,
    data: { names: [...names] },
  });
