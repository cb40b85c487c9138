import { ProtocolError } from "@holdfast/client/protocol";
import type { MethodParams, SessionRow } from "@holdfast/client/protocol";
import { removeTree, syncDirectoryAsync } from "@holdfast/recovery-journal";
import { reasonOf } from "@holdfast/shared-process";
import { sessionDirectory } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { deletedDirectory } from "../deleted.ts";
import { sessionsFolder } from "../home.ts";
import { withRequest } from "../records.ts";
import type { RequestStamp } from "../registry.ts";
import { verdictOf } from "../verdict.ts";
import type { Services } from "./services.ts";
import { requestStop } from "./stop.ts";

/** For the clean-up after a failed session's dead process. */
const CLEAN_UP_MS = 15_000;

/** Removes a session without a process, transcript and all. Its directory gets another name first: a crash finishes the removal. */
export function deleteSession(
  services: Services,
  { session, requestId }: MethodParams<"session/delete">,
): Promise<SessionRow> {
  const { context, sessions, requests } = services;
  return requests.once({ method: "session/delete", requestId, content: { session } }, async (stamp) => {
    const { sessionId } = sessions.actionable(session);
    await endFailed(services, sessionId);
    const record = context.catalog.get(sessionId);
    if (context.registry.newest(sessionId) !== null || !record) throw running();
    const row = sessions.row(sessionId);
    await remove(services, record, stamp);
    services.changes.tell(sessionId);
    const { requestId: creating, hash } = record.creatingRequest;
    await requests.remember(creating, { hash, sessionId: null, answer: { ...row, created: true } });
    const after = (): void => {
      try {
        removeTree(context.fs, deletedDirectory(context.home, sessionId));
      } catch (error) {
        context.log.warn(
          { sessionId, reason: reasonOf(error) },
          "a deleted session's files are left to the next start",
        );
      }
    };
    return { answer: row, final: true, after };
  });
}

const running = (): ProtocolError =>
  new ProtocolError("session_running", "the session has, or may have, a process", {
    hint: "agent session stop, then delete",
  });

/** A failed session whose last process is proven gone is cleaned up as by a stop; any other that is registered is running. */
async function endFailed(services: Services, sessionId: string): Promise<void> {
  const { registry, observer } = services.context;
  const state = registry.newest(sessionId);
  if (state === null) {
    // Its last registration may still be writing its end.
    await registry.until(sessionId, (now) => now === null, CLEAN_UP_MS);
    return;
  }
  if (state.name !== "failed") throw running();
  const verdict = state.process ? verdictOf(observer, state.process).kind : "gone";
  if (verdict !== "gone" && verdict !== "replaced") throw running();
  requestStop(services, sessionId, { goal: "stop", force: false });
  await registry.until(sessionId, (now) => now === null, CLEAN_UP_MS);
}

/** The request stands in the record that goes: whoever finishes the removal still knows who asked for it. */
async function remove(
  { context, records, status }: Services,
  record: SessionRecord,
  stamp: RequestStamp,
): Promise<void> {
  const { sessionId } = record;
  const { fs, home, catalog, registry } = context;
  if (status() !== "current") throw new ProtocolError("ownership_lost", "another supervisor owns the home");
  await records.rest(sessionId, (now) => withRequest(now, stamp));
  // A resume may have been quicker.
  if (registry.newest(sessionId) !== null) throw running();
  fs.rename(sessionDirectory(home, sessionId), deletedDirectory(home, sessionId));
  catalog.remove(sessionId);
  await syncDirectoryAsync(fs, sessionsFolder(home));
}
