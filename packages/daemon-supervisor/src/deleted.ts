import { basename } from "node:path";
import type { SessionRow } from "@holdfast/client/protocol";
import { removeTree } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { CodedError, reasonOf } from "@holdfast/shared-process";
import { sessionDirectory } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { readSessionRecordAt } from "./session-record-file.ts";
import type { Context } from "./effects/context.ts";
import { sessionsFolder } from "./home.ts";
import { rowOf } from "./rows.ts";
import type { Requests } from "./server/requests.ts";

const SUFFIX = ".deleted";

/** A session's directory once its deletion is durable. No reader takes it for a session. */
export const deletedDirectory = (home: string, sessionId: string): string =>
  `${sessionDirectory(home, sessionId)}${SUFFIX}`;

/** Frees the space of a deleted session. Its record stays while it is the only trace of the requests that made and deleted it. */
export function discardDeleted(fs: FileSystem, path: string, isRemembered: boolean): void {
  if (isRemembered) return removeTree(fs, path);
  for (const name of fs.readdir(path)) {
    if (name === "session.json") continue;
    const child = `${path}/${name}`;
    if (fs.lstat(child).isDirectory()) removeTree(fs, child);
    else fs.unlink(child);
  }
}

/**
 * Finishes deletions that a crash cut short: their requests are remembered first, then the files go. One that cannot be finished now
 * is left to the next start, as it is, and keeps nobody else's from being remembered. Never rejects.
 */
export async function finishDeletions(context: Context, requests: Requests): Promise<void> {
  const leave = (name: string, error: unknown): void =>
    context.log.warn({ name, reason: reasonOf(error) }, "a deleted session's files are left to the next start");
  const folder = sessionsFolder(context.home);
  try {
    for (const name of context.fs.readdir(folder).filter((entry) => entry.endsWith(SUFFIX)))
      await finishDeletion(context, `${folder}/${name}`, requests).catch((error: unknown) => leave(name, error));
  } catch (error) {
    leave(folder, error);
  }
}

async function finishDeletion({ fs }: Context, path: string, requests: Requests): Promise<void> {
  const read = readSessionRecordAt(fs, path, basename(path, SUFFIX));
  // It may be whole: a trace of requests is not removed for a look that failed.
  if (read.kind === "unreadable" && read.errno !== undefined) throw new CodedError(read.errno, read.reason);
  const isRemembered =
    read.kind !== "record" || (await rememberDeleted(requests, read.record, rowOfDeleted(read.record)));
  discardDeleted(fs, path, isRemembered);
}

const rowOfDeleted = (record: SessionRecord): SessionRow =>
  rowOf({ record, state: null, report: null, quarantine: null });

/** The requests of which a session's record is the trace. */
export type Requested = Pick<SessionRecord, "creatingRequest" | "recentRequests">;

/** Remembers what a record that goes has remembered: a repeat takes no effect on whoever has its name next (I143). True when durable. */
export async function rememberDeleted(
  requests: Requests,
  { creatingRequest, recentRequests = [] }: Requested,
  row: SessionRow,
): Promise<boolean> {
  const { requestId, hash } = creatingRequest;
  let isDurable = await requests.remember(requestId, { hash, sessionId: null, answer: { ...row, created: true } });
  for (const recent of recentRequests)
    isDurable =
      (await requests.rememberTrace(recent.requestId, { hash: recent.hash, sessionId: null, answer: row })) &&
      isDurable;
  return isDurable;
}
