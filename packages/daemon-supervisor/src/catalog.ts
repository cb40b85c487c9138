import { ProtocolError } from "@holdfast/client/protocol";
import {
  mayBeInPlace,
  nodeFileSystem,
  readPatiently,
  replaceFileAsync,
  syncDirectoryAsync,
} from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { errnoOf } from "@holdfast/shared-process";
import { sessionDirectory, sessionRecordPath, sessionRecordSchema } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { sessionsFolder } from "./home.ts";
import { isUnmade } from "./unmade.ts";

const MAX_RECORD_BYTES = 1024 * 1024;
/** What is written stays well below what is read, also with the fields that a later change adds. */
const MAX_WRITTEN_BYTES = MAX_RECORD_BYTES / 2;
const SESSION_ID = /^[0-9a-f-]{36}$/;

export type RecordRead =
  | { readonly kind: "record"; readonly record: SessionRecord }
  | { readonly kind: "unreadable"; readonly sessionId: string; readonly reason: string };

export function readSessionRecordAt(fs: FileSystem, directory: string, sessionId: string): RecordRead {
  const bytes = readPatiently(fs, `${directory}/session.json`, MAX_RECORD_BYTES);
  if (bytes.kind !== "read") return { kind: "unreadable", sessionId, reason: `session.json is ${bytes.kind}` };
  try {
    const parsed = sessionRecordSchema.safeParse(JSON.parse(bytes.bytes.toString("utf8")));
    if (parsed.success && parsed.data.sessionId === sessionId) return { kind: "record", record: parsed.data };
    return { kind: "unreadable", sessionId, reason: "session.json does not have the form of a session" };
  } catch {
    // What is wrong with the text does not matter: it is kept as it is and shown as damaged.
    return { kind: "unreadable", sessionId, reason: "session.json is not JSON" };
  }
}

/** Throws `usage` for one that is too long to be written. */
export function encodeRecord(record: SessionRecord): string {
  const text = `${JSON.stringify(record, null, 2)}\n`;
  if (Buffer.byteLength(text) <= MAX_WRITTEN_BYTES) return text;
  throw new ProtocolError("usage", "the session's record would be too long: fewer or shorter options or variables");
}

export function readAllSessions(fs: FileSystem, home: string): RecordRead[] {
  let names: string[];
  try {
    names = fs.readdir(sessionsFolder(home));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
  return names
    .filter((name) => SESSION_ID.test(name) && !isUnmade(fs, sessionDirectory(home, name)))
    .map((name) => readSessionRecordAt(fs, sessionDirectory(home, name), name));
}

/** All sessions of a home in memory, each backed by its `session.json`. Writes of one session are in order. */
export class Catalog {
  readonly #home: string;
  readonly #fs: FileSystem;
  readonly #records = new Map<string, SessionRecord>();
  /** What bare intents say of sessions whose record a full disk did not take. */
  readonly #assumed = new Map<string, SessionRecord["wanted"]>();
  /** Sessions whose record may be in place, and may not be after a power cut, since a write of it failed. */
  readonly #unsynced = new Set<string>();
  /** Sessions whose record is as the start found it: whoever wrote it may have failed before its name was durable. */
  readonly #found = new Set<string>();
  readonly #creators = new Map<string, string>();
  readonly #unreadable = new Map<string, string>();
  /** Requests whose name a record on disk still has, and needs no more. */
  readonly #forgotten = new Map<string, Set<string>>();
  /** The last write of each session: writes of one record never overlap. */
  readonly #writes = new Map<string, Promise<void>>();

  constructor(home: string, fs: FileSystem = nodeFileSystem) {
    this.#home = home;
    this.#fs = fs;
    for (const read of readAllSessions(fs, home)) {
      if (read.kind === "record") {
        this.#add(read.record);
        this.#found.add(read.record.sessionId);
      } else this.#unreadable.set(read.sessionId, read.reason);
    }
  }

  /** The session that a request has made. */
  createdBy(requestId: string): SessionRecord | undefined {
    const sessionId = this.#creators.get(requestId);
    return sessionId === undefined ? undefined : this.#records.get(sessionId);
  }

  get(sessionId: string): SessionRecord | undefined {
    return this.#records.get(sessionId);
  }

  all(): Iterable<SessionRecord> {
    return this.#records.values();
  }

  /** Sessions whose record cannot be understood: shown, never touched (I142). */
  unreadable(): ReadonlyMap<string, string> {
    return this.#unreadable;
  }

  /** Its files were moved away. */
  forgetUnreadable(sessionId: string): void {
    this.#unreadable.delete(sessionId);
  }

  /** A new session's record. Durable when it resolves; in memory only then. */
  create(record: SessionRecord): Promise<void> {
    return this.#inOrder(record.sessionId, () => this.#write(record));
  }

  /** Changes a record as it is when its turn comes; nothing is written when nothing changes. */
  update(sessionId: string, change: (record: SessionRecord) => SessionRecord): Promise<void> {
    return this.#inOrder(sessionId, async () => {
      const record = this.#records.get(sessionId);
      const changed = record && change(record);
      const isOwing = this.#assumed.has(sessionId) || this.#unsynced.has(sessionId);
      const differs = isOwing || JSON.stringify(changed) !== JSON.stringify(record);
      if (changed && differs) await this.#write(changed);
    });
  }

  /** What the disk would not take: shown so from the next turn on, and written with the next change. */
  assume(sessionId: string, wanted: SessionRecord["wanted"]): Promise<void> {
    // A write that is under way has another goal in its record, and must not bring that back.
    return this.#inOrder(sessionId, async () => {
      const record = this.#records.get(sessionId);
      if (!record) return;
      this.#records.set(sessionId, { ...record, wanted });
      this.#assumed.set(sessionId, wanted);
    });
  }

  /** What only a bare intent says on disk; nothing where the record itself says it. */
  assumed(sessionId: string): SessionRecord["wanted"] | undefined {
    return this.#assumed.get(sessionId);
  }

  /** Makes what is shown of a session durable where it may not be. What a bare intent says is. */
  settle(sessionId: string): Promise<void> {
    return this.#inOrder(sessionId, async () => {
      const record = this.#records.get(sessionId);
      if (!record || this.#assumed.has(sessionId)) return;
      if (this.#unsynced.has(sessionId)) await this.#write(record);
      if (!this.#found.has(sessionId)) return;
      await syncDirectoryAsync(this.#fs, sessionDirectory(this.#home, sessionId));
      this.#found.delete(sessionId);
    });
  }

  async #write(changed: SessionRecord): Promise<void> {
    const { sessionId } = changed;
    const record = this.#withoutForgotten(changed);
    const text = encodeRecord(record);
    try {
      await replaceFileAsync(this.#fs, sessionRecordPath(this.#home, sessionId), text);
    } catch (error) {
      // Every reader may find it from now on, and so do we. The next write makes it durable, also when it changes nothing.
      if (mayBeInPlace(error) && this.#records.has(sessionId)) {
        this.#show(record);
        this.#unsynced.add(sessionId);
      }
      throw error;
    }
    for (const doubted of [this.#assumed, this.#unsynced, this.#found]) doubted.delete(sessionId);
    this.#show(record);
    const written = new Set(record.recentRequests?.map(({ requestId }) => requestId));
    const still = [...(this.#forgotten.get(sessionId) ?? [])].filter((requestId) => written.has(requestId));
    if (still.length > 0) this.#forgotten.set(sessionId, new Set(still));
    else this.#forgotten.delete(sessionId);
  }

  /** What was forgotten or seen while this was being written goes with the next write. */
  #show(record: SessionRecord): void {
    const lastActivityAt = this.#records.get(record.sessionId)?.lastActivityAt ?? record.lastActivityAt;
    this.#add({ ...this.#withoutForgotten(record), lastActivityAt });
  }

  #add(record: SessionRecord): void {
    this.#records.set(record.sessionId, record);
    this.#creators.set(record.creatingRequest.requestId, record.sessionId);
  }

  #withoutForgotten(record: SessionRecord): SessionRecord {
    const forgotten = this.#forgotten.get(record.sessionId);
    if (!forgotten || !record.recentRequests) return record;
    return { ...record, recentRequests: record.recentRequests.filter(({ requestId }) => !forgotten.has(requestId)) };
  }

  #inOrder(sessionId: string, work: () => Promise<void>): Promise<void> {
    const result = (this.#writes.get(sessionId) ?? Promise.resolve()).then(work);
    const settled = result.catch(() => {
      // Whoever asked for this write hears of it; the next one is tried all the same.
    });
    this.#writes.set(sessionId, settled);
    void settled.then(() => {
      if (this.#writes.get(sessionId) === settled) this.#writes.delete(sessionId);
    });
    return result;
  }

  /** Its answer is remembered elsewhere now; the next write of the record drops it. */
  forgetRequest(sessionId: string, forgotten: string): void {
    const record = this.#records.get(sessionId);
    if (!record?.recentRequests?.some(({ requestId }) => requestId === forgotten)) return;
    this.#forgotten.set(sessionId, (this.#forgotten.get(sessionId) ?? new Set()).add(forgotten));
    this.#records.set(sessionId, this.#withoutForgotten(record));
  }

  /** A session that is no more, once `work` has made that durable; no write of its record runs beside it. */
  remove(sessionId: string, work: () => Promise<void>): Promise<void> {
    return this.#inOrder(sessionId, async () => {
      await work();
      const creator = this.#records.get(sessionId)?.creatingRequest.requestId;
      if (creator !== undefined) this.#creators.delete(creator);
      for (const kept of [this.#records, this.#assumed, this.#unsynced, this.#found, this.#forgotten])
        kept.delete(sessionId);
    });
  }

  /** Seen in lists at once; reaches the disk with the next write. */
  touch(sessionId: string, lastActivityAt: string): void {
    const record = this.#records.get(sessionId);
    if (record) this.#records.set(sessionId, { ...record, lastActivityAt });
  }
}
