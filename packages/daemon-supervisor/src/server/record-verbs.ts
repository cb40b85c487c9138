import { ProtocolError } from "@holdfast/client/protocol";
import type { MethodParams, SessionRow } from "@holdfast/client/protocol";
import { withRequest } from "../records.ts";
import { checkName } from "./names.ts";
import type { Services } from "./services.ts";

/** An archived session is listed again, stopped; nothing starts. */
export function unarchive(
  services: Services,
  { session, requestId }: MethodParams<"session/unarchive">,
): Promise<SessionRow> {
  const { context, sessions, requests, records, names } = services;
  return requests.once({ method: "session/unarchive", requestId, content: { session } }, async (stamp, repeated) => {
    const { sessionId } = repeated ?? sessions.actionable(session);
    const record = context.catalog.get(sessionId);
    if (!repeated && record?.wanted === "archived" && context.registry.newest(sessionId) === null) {
      await names.holding(record.parentId === null ? record.name : null, sessionId, () =>
        records.rest(sessionId, (now) =>
          now.wanted === "archived" ? { ...withRequest(now, stamp), wanted: "stopped" } : now,
        ),
      );
    } else if (!repeated && context.registry.newest(sessionId) !== null) {
      throw new ProtocolError("not_archived", "the session is not archived");
    }
    return { answer: sessions.row(sessionId), final: true };
  });
}

/** Another name, unique among unarchived roots; nothing else about the session changes. */
export function rename(
  services: Services,
  { session, requestId, name }: MethodParams<"session/rename">,
): Promise<SessionRow> {
  checkName(name);
  const { context, sessions, requests, names } = services;
  return requests.once({ method: "session/rename", requestId, content: { session, name } }, async (stamp, repeated) => {
    const { sessionId } = repeated ?? sessions.actionable(session);
    if (!repeated) {
      const record = context.catalog.get(sessionId);
      const isUnique = record?.wanted !== "archived" && record?.parentId === null;
      await names.holding(isUnique ? name : null, sessionId, () =>
        change(services, sessionId, (now) => ({ ...withRequest(now, stamp), name })),
      );
    }
    return { answer: sessions.row(sessionId), final: true };
  });
}

const OPTION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MAX_OPTION_BYTES = 16 * 1024;

/** Kept with the session and handed to its agent when it starts. */
export function setOptions(
  services: Services,
  { session, requestId, options }: MethodParams<"session/set">,
): Promise<SessionRow> {
  const { context, sessions, requests } = services;
  for (const [id, value] of Object.entries(options))
    if (!OPTION.test(id) || Buffer.byteLength(value) > MAX_OPTION_BYTES)
      throw new ProtocolError("usage", `${JSON.stringify(id.slice(0, 100))} is not an option that can be set`);
  return requests.once({ method: "session/set", requestId, content: { session, options } }, async (stamp, repeated) => {
    const { sessionId } = repeated ?? sessions.actionable(session);
    if (!repeated) {
      if (context.catalog.get(sessionId)?.wanted === "archived")
        throw new ProtocolError("session_archived", "the session is archived", {
          hint: `agent session unarchive ${sessionId}`,
        });
      await change(services, sessionId, (now) => ({
        ...withRequest(now, stamp),
        options: { ...now.options, ...options },
      }));
    }
    return { answer: sessions.row(sessionId), final: true };
  });
}

type Record = NonNullable<ReturnType<Services["context"]["catalog"]["get"]>>;

/** Asks first whether the home is still ours: another owner's records are never overwritten. */
async function change(
  { context, status }: Services,
  sessionId: string,
  edit: (record: Record) => Record,
): Promise<void> {
  if (status() !== "current") throw new ProtocolError("ownership_lost", "another supervisor owns the home");
  await context.catalog.update(sessionId, edit);
}
