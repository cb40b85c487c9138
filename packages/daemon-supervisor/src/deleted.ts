import { readBounded, removeTree } from "@holdfast/recovery-journal";
import { reasonOf } from "@holdfast/shared-process";
import { sessionDirectory, sessionRecordSchema } from "@holdfast/session-worker/transport";
import type { Context } from "./effects/context.ts";
import { sessionsFolder } from "./home.ts";
import { rowOf } from "./rows.ts";
import type { Requests } from "./server/requests.ts";

const SUFFIX = ".deleted";
const MAX_RECORD_BYTES = 1024 * 1024;

/** A session's directory once its deletion is durable. No reader takes it for a session. */
export const deletedDirectory = (home: string, sessionId: string): string =>
  `${sessionDirectory(home, sessionId)}${SUFFIX}`;

/** Finishes deletions that a crash cut short: their requests are remembered first, then the files go. */
export async function finishDeletions(context: Context, requests: Requests): Promise<void> {
  const { fs, home, log } = context;
  for (const name of fs.readdir(sessionsFolder(home)).filter((entry) => entry.endsWith(SUFFIX))) {
    const path = `${sessionsFolder(home)}/${name}`;
    try {
      await rememberDeleted(context, requests, path);
      removeTree(fs, path);
    } catch (error) {
      log.warn({ path, reason: reasonOf(error) }, "a deleted session's files are left to the next start");
    }
  }
}

async function rememberDeleted({ fs }: Context, requests: Requests, path: string): Promise<void> {
  const read = readBounded(fs, `${path}/session.json`, MAX_RECORD_BYTES);
  if (read.kind !== "read") return;
  const parsed = sessionRecordSchema.safeParse(JSON.parse(Buffer.from(read.bytes).toString("utf8")));
  if (!parsed.success) return;
  const record = parsed.data;
  const row = rowOf({ record, state: null, report: null, quarantine: null });
  const { creatingRequest, recentRequests = [] } = record;
  const { requestId, hash } = creatingRequest;
  await requests.remember(requestId, { hash, sessionId: null, answer: { ...row, created: true } });
  for (const recent of recentRequests)
    await requests.remember(recent.requestId, { hash: recent.hash, sessionId: null, answer: { ...row } });
}
