import { ProtocolError } from "@holdfast/client/protocol";
import type { MethodParams, SessionRow } from "@holdfast/client/protocol";
import { isDiskFull, readJournal, removeFile, syncDirectoryAsync } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { errnoOf, reasonOf } from "@holdfast/shared-process";
import { operationKinds, sessionDirectory, verdictOf } from "@holdfast/session-worker/transport";
import { deletedDirectory, discardDeleted, rememberDeleted } from "../deleted.ts";
import type { Requested } from "../deleted.ts";
import { logsFolder, sessionsFolder } from "../home.ts";
import { withRequest } from "../records.ts";
import type { RequestStamp } from "../registry-ports.ts";
import type { Services } from "./services.ts";
import { requestStop } from "./stop.ts";
import { endWritten } from "./unwritten.ts";

/** For the clean-up after a failed session's dead process. */
const CLEAN_UP_MS = 15_000;

/** Removes a session without a process, transcript and all. Its directory gets another name first: a crash finishes the removal. */
export function deleteSession(
  services: Services,
  { session, requestId }: MethodParams<"session/delete">,
): Promise<SessionRow> {
  const { context, sessions, requests, lanes } = services;
  return requests.once({ method: "session/delete", requestId, content: { session } }, async (stamp) => {
    const sessionId = sessions.select(session);
    const { record, row } = await lanes.run(sessionId, () => remove(services, sessionId, stamp));
    services.changes.tell(sessionId);
    const isKept = await rememberDeleted(requests, record, row);
    const after = (isDurable: boolean): void => {
      context.secrets.delete(sessionId);
      try {
        removeFile(context.fs, `${logsFolder(context.home)}/worker-${sessionId}.err`);
        discardDeleted(context.fs, deletedDirectory(context.home, sessionId), isKept && isDurable);
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

const running = (sessionId: string): ProtocolError =>
  new ProtocolError("session_running", "the session is not stopped: it has a process, or may get one", {
    hint: `agent session stop ${sessionId}`,
  });

async function remove(
  services: Services,
  sessionId: string,
  stamp: RequestStamp,
): Promise<{ readonly record: Requested; readonly row: SessionRow }> {
  const { context, sessions, requests } = services;
  const { fs, home, catalog, registry } = context;
  const [source, target] = [sessionDirectory(home, sessionId), deletedDirectory(home, sessionId)];
  // Somebody else has removed it: there is nothing to write to, and nothing left to remove.
  const isGone = !fs.exists(source);
  const record = (isGone && catalog.summary(sessionId)) || sessions.actionable(sessionId);
  refuseUncertain(services, sessionId);
  await endFailed(services, sessionId);
  if (registry.newest(sessionId) !== null) throw running(sessionId);
  const row = sessions.row(sessionId);
  if (!isGone) await stampRecord(services, sessionId, stamp);
  // Before it goes: between the two nobody else would know what made it.
  await rememberDeleted(requests, { creatingRequest: record.creatingRequest }, row);
  // A resume of an older client may have been quicker.
  if (registry.newest(sessionId) !== null) throw running(sessionId);
  await catalog.remove(sessionId, async () => {
    if (isGone) return;
    renameFolder(fs, source, target);
    await syncDirectoryAsync(fs, sessionsFolder(home)).catch((error: unknown) => {
      // Not durable: it must not come back later of its own accord.
      fs.rename(target, source);
      throw error;
    });
  });
  return { record, row };
}

/** Something is mounted on one of the folders, or has the name. */
const IN_THE_WAY = new Set(["EBUSY", "ENOTEMPTY", "EEXIST", "ENOTDIR"]);

/** An error does not say that it was not done: what stands where decides, as for every reader. */
function renameFolder(fs: FileSystem, source: string, target: string): void {
  try {
    fs.rename(source, target);
  } catch (error) {
    if (!fs.exists(source) && fs.exists(target)) return;
    const errno = errnoOf(error);
    if (errno === null || !IN_THE_WAY.has(errno)) throw error;
    throw new ProtocolError("session_in_use", `${source} cannot be renamed to ${target}: ${errno}`, {
      hint: "unmount or move what is in the way of that folder, then delete the session again",
    });
  }
}

/** A quarantine that nobody has settled keeps its session, with the evidence of what may have been under way (I71). */
function refuseUncertain({ context: { fs, home } }: Services, sessionId: string): void {
  const directory = `${sessionDirectory(home, sessionId)}/journal`;
  const report = readJournal(directory, operationKinds, fs);
  if (report.kind === "refused" && report.why === "unreadable")
    throw new ProtocolError("internal", `${report.path} cannot be read: ${report.message}`, {
      hint: "agent doctor",
    });
  const [quarantine] = report.kind === "ok" ? report.quarantines : [];
  if (quarantine === undefined) return;
  const message = `${directory}: quarantine ${quarantine.id} (${quarantine.why}) is not resolved`;
  throw new ProtocolError("session_quarantined", message, { hint: `agent journal show ${directory}` });
}

/** The request stands in the record that goes: whoever finishes the removal knows who asked for it. A full disk must not keep it. */
async function stampRecord({ context, records }: Services, sessionId: string, stamp: RequestStamp): Promise<void> {
  try {
    await records.rest(sessionId, (now) => withRequest(now, stamp));
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    context.log.warn(
      { sessionId, reason: reasonOf(error) },
      "the disk is full; a deletion goes on without its request's name",
    );
  }
}

/** A failed session whose last process is proven gone is cleaned up as by a stop; any other that is registered is running. */
async function endFailed(services: Services, sessionId: string): Promise<void> {
  const { registry, observer } = services.context;
  const state = registry.newest(sessionId);
  if (state !== null) {
    if (state.name !== "failed") throw running(sessionId);
    const verdict = state.process ? verdictOf(observer, state.process).kind : "gone";
    if (verdict !== "gone" && verdict !== "replaced") throw running(sessionId);
    requestStop(services, sessionId, { goal: "stop", force: false });
  }
  await endWritten(registry, sessionId, "the session's end", CLEAN_UP_MS);
}
