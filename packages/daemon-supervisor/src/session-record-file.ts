import { readBounded } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { errnoOf } from "@holdfast/shared-process";
import { sessionRecordSchema } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { sessionsFolder } from "./home.ts";

export const MAX_RECORD_BYTES = 1024 * 1024;
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
  const read = readBounded(fs, `${directory}/session.json`, MAX_RECORD_BYTES);
  if (read.kind !== "read") {
    const { kind } = read;
    const errno = kind === "unreadable" ? { errno: read.errno } : {};
    return { kind: "unreadable", sessionId, reason: `session.json is ${kind}`, ...errno };
  }
  try {
    const parsed = sessionRecordSchema.safeParse(JSON.parse(read.bytes.toString("utf8")));
    if (parsed.success && parsed.data.sessionId === sessionId) return { kind: "record", record: parsed.data };
    return { kind: "unreadable", sessionId, reason: "session.json does not have the form of a session" };
  } catch {
    // What is wrong with the text does not matter: it is kept as it is and shown as damaged.
    return { kind: "unreadable", sessionId, reason: "session.json is not JSON" };
  }
}

/** The sessions of a home by the names of their directories, the oldest first. */
export function sessionIdsOf(fs: FileSystem, home: string): string[] {
  try {
    const names = fs.readdir(sessionsFolder(home));
    return names.filter((name) => SESSION_ID.test(name)).toSorted();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
