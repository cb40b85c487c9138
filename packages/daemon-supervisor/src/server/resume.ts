import { ProtocolError } from "@holdfast/client/protocol";
import type { MethodParams, MethodResults, SessionRow } from "@holdfast/client/protocol";
import { encodeRecord } from "../session-record-file.ts";
import { freshValues } from "../effects/context.ts";
import type { Context } from "../effects/context.ts";
import { withRequest } from "../records.ts";
import type { RequestStamp } from "../registry-ports.ts";
import { checkEnvironment } from "./environment.ts";
import { untilReady } from "./ready.ts";
import { requireFolder } from "../folder.ts";
import type { Services } from "./services.ts";
import { endWritten, goesOn } from "./unwritten.ts";

/** The explicit way back (I129): from stopped, archived, failed, passivated, and over a stop that is under way. */
export function resume(
  services: Services,
  { session, requestId, secretEnvironment: offered = {} }: MethodParams<"session/resume">,
): Promise<MethodResults["session/resume"]> {
  const { context, sessions, requests, lanes } = services;
  checkEnvironment({}, offered);
  const secretNames = Object.keys(offered).toSorted();
  const content = { session, secretNames };
  return requests.once({ method: "session/resume", requestId, content }, async (stamp, repeated) => {
    const sessionId = repeated?.sessionId ?? sessions.actionable(session).sessionId;
    if (repeated) complete(context, sessionId, offered);
    else
      await lanes.run(sessionId, () => bringBack(services, sessionId, { stamp: { ...stamp, secretNames }, offered }));
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
          dispatchResume(services, sessionId, { by: "retry", stamp, offered: {} }),
        );
      });
    }
    const rests = registry.published(sessionId)?.name === "passivated";
    const answer: SessionRow = rests ? sessions.present(sessionId) : await untilReady(services, sessionId);
    return { answer, final: true };
  });
}

type Values = Readonly<Record<string, string>>;

/**
 * What a resume brings. It is the session's from the moment at which the resume takes effect; one that is refused leaves nothing, and
 * one that joins only what nobody has yet (I58, I60).
 */
interface Brought {
  readonly stamp: RequestStamp;
  readonly offered: Values;
}

function accept({ secrets }: Context, sessionId: string, offered: Values): void {
  if (Object.keys(offered).length > 0) secrets.set(sessionId, { ...secrets.get(sessionId), ...offered });
}

function complete({ catalog, secrets }: Context, sessionId: string, offered: Values): void {
  const names = catalog.get(sessionId)?.secretNames ?? [];
  const wanted = Object.entries(offered).filter(([name]) => names.includes(name));
  if (wanted.length > 0) secrets.set(sessionId, { ...Object.fromEntries(wanted), ...secrets.get(sessionId) });
}

async function bringBack(services: Services, sessionId: string, brought: Brought): Promise<void> {
  const { context, names, sessions } = services;
  const { registry } = context;
  const { stamp, offered } = brought;
  const record = sessions.actionable(sessionId);
  const { name, parentId } = record;
  // Refused here, since what a registration writes is tried again for ever.
  encodeRecord(withRequest(record, stamp));
  // While it was archived, or is being archived, somebody else may have taken its name.
  await names.holding(parentId === null ? name : null, sessionId, async () => {
    if (registry.newest(sessionId) !== null)
      return await dispatchResume(services, sessionId, { by: "resume", ...brought });
    requireFolder(context, sessionId);
    // Its last registration may still be writing its end; the new one must not be written before it.
    await endWritten(registry, sessionId, "the end before it");
    const fresh = freshValues(context, sessionId, offered);
    if (fresh.missingEnvironment.length > 0) throw missing(fresh.missingEnvironment);
    await services.ender.settleLeftover(sessionId);
    if (registry.newest(sessionId) !== null) return;
    // Meanwhile it may have been found damaged; from here on it is held.
    if (!context.catalog.hold(sessionId)) sessions.actionable(sessionId);
    const { generation } = fresh;
    const launching = { name: "launching", generation, launches: [], due: null } as const;
    accept(context, sessionId, offered);
    registry.enroll(sessionId, launching, [{ type: "spawn", generation }], stamp);
    await drained(services, sessionId);
  });
}

async function dispatchResume(
  services: Services,
  sessionId: string,
  { by, stamp, offered }: Brought & { readonly by: "resume" | "retry" },
): Promise<void> {
  const { context } = services;
  const fresh = freshValues(context, sessionId, offered);
  const decision = context.registry.dispatch(sessionId, { type: "resume", by, fresh }, stamp);
  if (decision.kind === "deny") throw missing(fresh.missingEnvironment);
  if (decision.kind === "move") accept(context, sessionId, offered);
  else complete(context, sessionId, offered);
  await drained(services, sessionId);
}

async function drained({ context }: Services, sessionId: string): Promise<void> {
  if (await context.registry.drained({ sessionId })) return;
  throw goesOn(context.registry, sessionId, "the resume");
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
