import { ProtocolError, meets } from "@holdfast/client/protocol";
import type {
  SessionDetails,
  SessionEvent,
  SessionRow,
  SessionTree,
  WaitAnswer,
  WaitCondition,
} from "@holdfast/client/protocol";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { createObserver } from "@holdfast/shared-process";
import type { ProcessObserver } from "@holdfast/shared-process";
import {
  readTranscript,
  sessionDirectory,
  transcriptAt,
  transcriptPath,
  verdictOf,
  whyUnreadable,
} from "@holdfast/session-worker/transport";
import { readWorkerFiles, standingIntents } from "../descriptor-files.ts";
import type { Descriptor } from "../descriptor.ts";
import type { BareIntent } from "../descriptor-files.ts";
import { wantedAfter } from "../lifecycle/durable.ts";
import { OLDER_FORM } from "../older/form.ts";
import { transcriptEnd } from "../last-turn.ts";
import { wantedOfGone } from "../left.ts";
import { pageOf } from "../page.ts";
import type { PageRequest } from "../page.ts";
import { damagedRow, optionsOf, rowOf } from "../rows.ts";
import { select } from "../select.ts";
import { readSummaries } from "../session-index/read-index.ts";
import type { SessionSummary } from "../session-index/row.ts";
import { readSessionRecordAt } from "../session-record-file.ts";
import { treeOf } from "../tree.ts";

/** Rows of a home without asking a daemon: what the files say, one damaged record in its own row. */
export function rowsOffline(
  home: string,
  observer = createObserver({ mode: "narrow", library: "for-signals" }),
): SessionRow[] {
  const files = readWorkerFiles(nodeFileSystem, home);
  const intents = standingIntents(nodeFileSystem, home, files);
  const descriptors = new Map(files.descriptors.map((read) => [read.sessionId, read]));
  return readSummaries(nodeFileSystem, home).map((read) => {
    if (read.kind === "unreadable") return damagedRow(read.sessionId, read.reason);
    const descriptor = descriptors.get(read.record.sessionId);
    const quarantine = descriptor?.kind === "damaged" ? descriptor.reason : null;
    const record = intended(read.record, intents.get(read.record.sessionId));
    if (descriptor?.kind !== "descriptor") {
      const row = rowOf({ record, state: null, report: null, quarantine });
      return descriptor?.kind === "older" && row.state !== "stopped" ? { ...row, reason: OLDER_FORM } : row;
    }
    return withDescriptor(home, record, { descriptor: descriptor.descriptor, observer });
  });
}

/** What a full disk took as a bare name only: the record says it after the next start. */
const intended = (record: SessionSummary, bare: BareIntent | undefined): SessionSummary =>
  bare && record.wanted !== "archived" ? { ...record, wanted: wantedAfter[bare.intent.goal] } : record;

function withDescriptor(
  home: string,
  record: SessionSummary,
  { descriptor, observer }: { readonly descriptor: Descriptor; readonly observer: ProcessObserver },
): SessionRow {
  const { lifecycle, process, stop, reason } = descriptor;
  const { kind } = verdictOf(observer, process);
  // Whoever reads a number here takes it for the worker's, and by now it may be a stranger's (I131).
  const isOver = kind === "gone" || kind === "replaced";
  const wanted = isOver ? wantedOfGone({ home, fs: nodeFileSystem }, record, descriptor) : record.wanted;
  const lastActivityAt = lastActivity(home, record);
  const row = rowOf({ record: { ...record, wanted, lastActivityAt }, state: null, report: null, quarantine: null });
  const named = isOver ? row : { ...row, pid: process.identity.pid, generation: process.generation };
  if (stop) return { ...named, state: "stopping" };
  if (lifecycle === "failed") return { ...row, state: "failed", reason: reason ?? null };
  return lifecycle === "recovering" ? row : named;
}

/** What its worker did since its record was written stands in its transcript. */
function lastActivity(home: string, { sessionId, lastActivityAt }: SessionSummary): string {
  try {
    const { mtimeMs } = nodeFileSystem.lstat(transcriptPath(sessionDirectory(home, sessionId)));
    const written = new Date(Number(mtimeMs)).toISOString();
    return written > lastActivityAt ? written : lastActivityAt;
  } catch {
    // There is none, or it cannot be looked at: the record says the last that is known.
    return lastActivityAt;
  }
}

export const listOffline = (home: string, request: PageRequest = {}): { sessions: SessionRow[]; nextCursor?: string } =>
  pageOf(rowsOffline(home), request);

export function showOffline(home: string, selector: string): SessionDetails {
  const row = rowFor(rowsOffline(home), selector);
  const origin = { agent: row.agent, agentSessionId: null, restoredBy: "fresh" } as const;
  const read = readSessionRecordAt(nodeFileSystem, sessionDirectory(home, row.sessionId), row.sessionId);
  const options = optionsOf(read.kind === "record" ? read.record : undefined);
  return { ...row, options, usage: null, inDoubt: [], origin };
}

export function treeOffline(home: string, selector?: string): { sessions: SessionTree[] } {
  const rows = rowsOffline(home);
  return { sessions: treeOf(rows, selector === undefined ? null : rowFor(rows, selector).sessionId) };
}

/** One look at sessions that are waited for: what the files say. Throws `session_not_found` for one that is not there. */
export function waitOffline(home: string, sessions: readonly string[], condition: WaitCondition): OfflineWait[] {
  const rows = rowsOffline(home);
  return sessions.map((selector) => {
    const row = rowFor(rows, selector);
    const matched = meets(row, condition);
    const { sessionId, waitingFor } = row;
    return {
      sessionId,
      matched,
      answer: () => {
        const path = transcriptPath(sessionDirectory(home, sessionId));
        return {
          sessionId,
          matched,
          ...(waitingFor ? { waitingFor } : {}),
          ...transcriptEnd(nodeFileSystem, path),
        };
      },
    };
  });
}

export interface OfflineWait {
  readonly sessionId: string;
  readonly matched: boolean;
  /** Reads the transcript's end, which is not needed while nothing has matched. */
  readonly answer: () => WaitAnswer;
}

function rowFor(rows: readonly SessionRow[], selector: string): SessionRow {
  const selectable = rows.map(({ sessionId, name, lifecycle }) => ({
    sessionId,
    name,
    archived: lifecycle === "archived",
  }));
  const sessionId = select(selector, selectable);
  return rows.find((row) => row.sessionId === sessionId) ?? damagedRow(sessionId, "its record is gone");
}

/** The transcript from a cursor to its present end, streamed (I157). */
export function* transcriptOffline(
  home: string,
  selector: string,
  { from }: { readonly from?: string | undefined } = {},
): Generator<SessionEvent> {
  const { sessionId } = showOffline(home, selector);
  const path = transcriptPath(sessionDirectory(home, sessionId));
  const why = whyUnreadable(transcriptAt(path));
  if (why !== null) throw new ProtocolError("file_not_found", why, { hint: "agent doctor tells the way out" });
  for (const { line } of readTranscript({ path, fs: nodeFileSystem, ...(from === undefined ? {} : { from }) }))
    // Lines of our own writer; readers tolerate types they do not know (I26).
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    yield JSON.parse(line) as SessionEvent;
}
