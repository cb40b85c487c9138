import type { SessionDetails, SessionEvent, SessionRow } from "@holdfast/client/protocol";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { readTranscript, sessionDirectory } from "@holdfast/session-worker/transport";
import { readAllSessions } from "../catalog.ts";
import { readWorkerFiles } from "../descriptor-files.ts";
import type { DescriptorRead } from "../descriptor-files.ts";
import { pageOf } from "../page.ts";
import type { PageRequest } from "../page.ts";
import { damagedRow, rowOf } from "../rows.ts";
import { select } from "../select.ts";

/** Rows of a home without asking a daemon: what the files say, one damaged record in its own row. */
export function rowsOffline(home: string): SessionRow[] {
  const descriptors = new Map(readWorkerFiles(nodeFileSystem, home).descriptors.map((read) => [read.sessionId, read]));
  return readAllSessions(nodeFileSystem, home).map((read) => {
    if (read.kind === "unreadable") return damagedRow(read.sessionId, read.reason);
    const descriptor = descriptors.get(read.record.sessionId);
    const quarantine = descriptor?.kind === "damaged" ? descriptor.reason : null;
    return withDescriptor(rowOf({ record: read.record, state: null, report: null, quarantine }), descriptor);
  });
}

function withDescriptor(row: SessionRow, read: DescriptorRead | undefined): SessionRow {
  if (read?.kind !== "descriptor") return row;
  const { lifecycle, process, stop, reason } = read.descriptor;
  if (stop) return { ...row, state: "stopping", pid: process.identity.pid, generation: process.generation };
  if (lifecycle === "failed") return { ...row, state: "failed", reason: reason ?? null };
  if (lifecycle === "recovering") return row;
  return { ...row, pid: process.identity.pid, generation: process.generation };
}

export const listOffline = (home: string, request: PageRequest = {}): { sessions: SessionRow[]; nextCursor?: string } =>
  pageOf(rowsOffline(home), request);

export function showOffline(home: string, selector: string): SessionDetails {
  const rows = rowsOffline(home);
  const sessionId = select(
    selector,
    rows.map((row) => ({ sessionId: row.sessionId, name: row.name, archived: row.lifecycle === "archived" })),
  );
  const row = rows.find((other) => other.sessionId === sessionId) ?? damagedRow(sessionId, "its record is gone");
  const origin = { agent: row.agent, agentSessionId: null, restoredBy: "fresh" } as const;
  return { ...row, options: [], usage: null, inDoubt: [], origin };
}

/** The transcript from a cursor to its present end, streamed (I157). */
export function* transcriptOffline(
  home: string,
  selector: string,
  { from }: { readonly from?: string | undefined } = {},
): Generator<SessionEvent> {
  const { sessionId } = showOffline(home, selector);
  const path = `${sessionDirectory(home, sessionId)}/transcript.jsonl`;
  for (const { line } of readTranscript({ path, fs: nodeFileSystem, ...(from === undefined ? {} : { from }) }))
    // Lines of our own writer; readers tolerate types they do not know (I26).
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    yield JSON.parse(line) as SessionEvent;
}
