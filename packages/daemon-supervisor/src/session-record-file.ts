import { ProtocolError } from "@holdfast/client/protocol";
import { readPatiently } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { errnoOf } from "@holdfast/shared-process";
import { sessionDirectory, sessionRecordSchema } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { sessionsFolder } from "./home.ts";
import { isUnmade } from "./unmade.ts";

const MAX_RECORD_BYTES = 1024 * 1024;
/** What is written stays well below what is read, also with the fields that a later change adds. */
const MAX_WRITTEN_BYTES = MAX_RECORD_BYTES / 2;
/** So many replacements of a record in a row have different lengths: more than fit between two ticks of any disk's clock. */
const LENGTHS = 64;
const SESSION_ID = /^[0-9a-f-]{36}$/;

export type RecordRead<R = SessionRecord> =
  | { readonly kind: "record"; readonly record: R }
  | {
      readonly kind: "unreadable";
      readonly sessionId: string;
      readonly reason: string;
      /** Where the system did not let it be read: what is in it is not known to be damaged. */
      readonly errno?: string;
    };

export function readSessionRecordAt(fs: FileSystem, directory: string, sessionId: string): RecordRead {
  const read = readPatiently(fs, `${directory}/session.json`, MAX_RECORD_BYTES);
  if (read.kind !== "read") {
    const { kind } = read;
    const errno = kind === "unreadable" ? { errno: read.errno } : {};
    return { kind: "unreadable", sessionId, reason: `session.json is ${kind}`, ...errno };
  }
  try {
    const parsed = sessionRecordSchema.safeParse(JSON.parse(read.bytes.toString("utf8")));
    if (!parsed.success)
      return { kind: "unreadable", sessionId, reason: "session.json does not have the form of a session" };
    if (parsed.data.sessionId === sessionId) return { kind: "record", record: parsed.data };
    return { kind: "unreadable", sessionId, reason: `session.json is of another session, ${parsed.data.sessionId}` };
  } catch {
    // What is wrong with the text does not matter: it is kept as it is and shown as damaged.
    return { kind: "unreadable", sessionId, reason: "session.json is not JSON" };
  }
}

/** The record of a session of a home; `null` where its creation was cut off and there is no session. */
export function readSessionRecord(fs: FileSystem, home: string, sessionId: string): RecordRead | null {
  const directory = sessionDirectory(home, sessionId);
  return isUnmade(fs, directory) ? null : readSessionRecordAt(fs, directory, sessionId);
}

/**
 * Throws `usage` for one that is too long to be written. Spaces at its end give it another length than the records before it had, since
 * another one with the same inode's number may be written before the kernel's clock goes on (docs/session-index.md).
 */
export function encodeRecord(record: SessionRecord, bytesBefore?: number): string {
  const text = JSON.stringify(record, null, 2);
  const bytes = Buffer.byteLength(text) + 1;
  if (bytes > MAX_WRITTEN_BYTES)
    throw new ProtocolError("usage", "the session's record would be too long: fewer or shorter options or variables");
  const spaces = bytesBefore === undefined ? 0 : (((bytesBefore + 1 - bytes) % LENGTHS) + LENGTHS) % LENGTHS;
  return `${text}${" ".repeat(spaces)}\n`;
}

/** By the records themselves, whatever an index says. */
export const readAllSessions = (fs: FileSystem, home: string): RecordRead[] =>
  sessionIdsOf(fs, home).flatMap((sessionId) => readSessionRecord(fs, home, sessionId) ?? []);

/** Directories with the name of a session, the oldest first; also what creations left that were cut off. */
export function sessionIdsOf(fs: FileSystem, home: string): string[] {
  try {
    const names = fs.readdir(sessionsFolder(home));
    return names.filter((name) => SESSION_ID.test(name)).toSorted();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
