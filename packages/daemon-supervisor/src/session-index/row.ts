import { decodeLine, encodeLine } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { sessionDirectory, sessionRecordPath, sessionRecordSchema } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { extend, pick, string } from "zod/mini";

/*
 * `<home>/sessions/index`, version 1 (docs/session-index.md): a head, then one line for each change of a session. The last line of
 * a session counts, and only while the files are still those that it was written of.
 *
 *     {"format":"holdfast-sessions","version":1,"c":"…"}
 *     {"sessionId":"…","name":…, …,"record":"INODE.BYTES.CHANGED","folder":"INODE.BYTES.CHANGED","c":"…"}
 */

const summarySchema = pick(sessionRecordSchema, {
  sessionId: true,
  name: true,
  agent: true,
  cwd: true,
  project: true,
  wanted: true,
  parentId: true,
  createdAt: true,
  lastActivityAt: true,
  creatingRequest: true,
  recentRequests: true,
  lastError: true,
  failure: true,
});

/** What lists, names, selectors, families, requests and a start need of a session. Every record is one. */
export type SessionSummary = Pick<SessionRecord, keyof typeof summarySchema.shape>;

export interface Stamps {
  /** Of `session.json`. */
  readonly record: string;
  /** Of the session's directory: it changes with every name in it. */
  readonly folder: string;
}

const rowSchema = extend(summarySchema, { record: string(), folder: string() });
export type IndexRow = SessionSummary & Stamps;

/** Nothing of it runs or is to be run or ended: a start need not look at it. */
export const isResting = ({ wanted, failure }: SessionSummary): boolean =>
  (wanted === "stopped" || wanted === "archived") && !failure;

/** No seed is needed: the index is written by one file's name alone. */
const SEED = 0;
const encode = (value: object): string => encodeLine(JSON.stringify(value), SEED).toString("utf8").trimEnd();

const head = { format: "holdfast-sessions", version: 1 } as const;
export const HEAD_LINE = encode(head);

export const encodeRow = (row: IndexRow): string => encode(row);

/** `null` for a line that is damaged or of another form. */
export function decodeRow(line: string): IndexRow | null {
  const parsed = rowSchema.safeParse(decodeLine(Buffer.from(line), SEED));
  return parsed.success ? parsed.data : null;
}

export function summaryOf(record: SessionSummary): SessionSummary {
  const { sessionId, name, agent, cwd, project, wanted, parentId, createdAt, lastActivityAt } = record;
  const { creatingRequest, recentRequests, lastError, failure } = record;
  const named = { sessionId, name, agent, cwd, project, wanted, parentId, createdAt, lastActivityAt };
  return { ...named, creatingRequest, ...(recentRequests ? { recentRequests } : {}), lastError, failure };
}

/** The length of a file by its stamp; `undefined` of none. */
export const bytesOf = (stamp: string): number | undefined => Number(stamp.split(".")[1]) || undefined;

/** What the system says of a session's files as they are now. */
export const stampsOf = (fs: FileSystem, home: string, sessionId: string): Stamps => ({
  record: recordStamp(fs, home, sessionId),
  folder: folderStamp(fs, home, sessionId),
});

export const recordStamp = (fs: FileSystem, home: string, sessionId: string): string =>
  stampOf(fs, sessionRecordPath(home, sessionId));

export const folderStamp = (fs: FileSystem, home: string, sessionId: string): string =>
  stampOf(fs, sessionDirectory(home, sessionId));

/** Another file, another length or another time of its last change make another stamp. The kernel alone sets that time. */
function stampOf(fs: FileSystem, path: string): string {
  try {
    const { ino, size, ctimeNs } = fs.lstat(path);
    return `${ino}.${size}.${ctimeNs}`;
  } catch {
    return NO_STAMP;
  }
}

/** Of what cannot be looked at. Like no other, not even itself: whoever reads it says why. */
const NO_STAMP = "";

/** Whether it says what the record with this stamp does. */
export const isOfRecord = (row: IndexRow, record: string): boolean => record !== NO_STAMP && row.record === record;

export const fits = (row: IndexRow, { record, folder }: Stamps): boolean =>
  isOfRecord(row, record) && folder !== NO_STAMP && row.folder === folder;
