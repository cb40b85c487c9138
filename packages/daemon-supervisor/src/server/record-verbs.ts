import { ProtocolError } from "@holdfast/client/protocol";
import type { MethodParams, SessionRow } from "@holdfast/client/protocol";
import { withRequest } from "../records.ts";
import { requireFolder } from "../folder.ts";
import { checkName } from "./names.ts";
import type { Services } from "./services.ts";

/** An archived session is listed again, stopped; nothing starts. */
export function unarchive(
  services: Services,
  { session, requestId }: MethodParams<"session/unarchive">,
): Promise<SessionRow> {
  const { context, sessions, requests, records, names, lanes } = services;
  return requests.once({ method: "session/unarchive", requestId, content: { session } }, async (stamp, repeated) => {
    const { sessionId } = repeated ?? sessions.actionable(session);
    if (!repeated)
      await lanes.run(sessionId, async () => {
        const record = sessions.actionable(sessionId);
        requireFolder(context, sessionId);
        if (context.registry.newest(sessionId) !== null)
          throw new ProtocolError("not_archived", "the session is not archived");
        if (record.wanted !== "archived") return;
        await names.holding(record.parentId === null ? record.name : null, sessionId, () =>
          records.rest(sessionId, (now) =>
            now.wanted === "archived" ? { ...withRequest(now, stamp), wanted: "stopped" } : now,
          ),
        );
      });
    return { answer: sessions.present(sessionId), final: true };
  });
}

/** Another name, unique among unarchived roots; nothing else about the session changes. */
export function rename(
  services: Services,
  { session, requestId, name }: MethodParams<"session/rename">,
): Promise<SessionRow> {
  checkName(name);
  const { context, sessions, requests, records, names, lanes } = services;
  return requests.once({ method: "session/rename", requestId, content: { session, name } }, async (stamp, repeated) => {
    const { sessionId } = repeated ?? sessions.actionable(session);
    if (!repeated)
      await lanes.run(sessionId, async () => {
        const { wanted, parentId } = sessions.actionable(sessionId);
        requireFolder(context, sessionId);
        const rests = wanted === "archived" && context.registry.newest(sessionId) === null;
        await names.holding(rests || parentId !== null ? null : name, sessionId, () =>
          records.change(sessionId, (now) => ({ ...withRequest(now, stamp), name })),
        );
      });
    return { answer: sessions.present(sessionId), final: true };
  });
}

const OPTION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MAX_OPTION_BYTES = 16 * 1024;
const MAX_OPTIONS = 64;

/** Kept with the session and handed to its agent when it starts. */
export function setOptions(
  services: Services,
  { session, requestId, options }: MethodParams<"session/set">,
): Promise<SessionRow> {
  const { context, sessions, requests, records, lanes } = services;
  for (const [id, value] of Object.entries(options))
    if (!OPTION.test(id) || Buffer.byteLength(value) > MAX_OPTION_BYTES)
      throw new ProtocolError("usage", `${JSON.stringify(id.slice(0, 100))} is not an option that can be set`);
  return requests.once({ method: "session/set", requestId, content: { session, options } }, async (stamp, repeated) => {
    const { sessionId } = repeated ?? sessions.actionable(session);
    if (!repeated)
      await lanes.run(sessionId, async () => {
        const record = sessions.actionable(sessionId);
        if (record.wanted === "archived")
          throw new ProtocolError("session_archived", "the session is archived", {
            hint: `agent session unarchive ${sessionId}`,
          });
        requireFolder(context, sessionId);
        if (Object.keys({ ...record.options, ...options }).length > MAX_OPTIONS)
          throw new ProtocolError("usage", `a session takes at most ${MAX_OPTIONS} options`);
        await records.change(sessionId, (now) => ({
          ...withRequest(now, stamp),
          options: { ...now.options, ...options },
        }));
      });
    return { answer: sessions.present(sessionId), final: true };
  });
}
