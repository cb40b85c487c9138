import { mayBeInPlace, nodeFileSystem, replaceFileAsync, syncDirectoryAsync } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { CodedError } from "@holdfast/shared-process";
import { sessionDirectory, sessionRecordPath } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { newestFirst } from "./page.ts";
import { putLast } from "./put-last.ts";
import { IndexWriter } from "./session-index/index-writer.ts";
import { readIndex } from "./session-index/read-index.ts";
import { bytesOf, fits, folderStamp, isResting, recordStamp, stampsOf, summaryOf } from "./session-index/row.ts";
import type { IndexRow, SessionSummary } from "./session-index/row.ts";
import { encodeRecord, readSessionRecordAt, sessionIdsOf } from "./session-record-file.ts";
import { sweepTemporary } from "./sweep.ts";
import { isUnmade } from "./unmade.ts";

/** Records of sessions at rest that are kept in memory once they were read; each is some 2 KB. */
const MAX_RECENT = 64;

export class Catalog {
  readonly #home: string;
  readonly #fs: FileSystem;
  /** What each record on disk says, in the order of their ids. */
  readonly #rows = new Map<string, IndexRow>();
  /** Whole records as they are shown: all of sessions that do not rest, and those that the disk does not have so. */
  readonly #records = new Map<string, SessionRecord>();
  /** Whole records of sessions at rest, the last used last. */
  readonly #recent = new Map<string, SessionRecord>();
  /** Sessions whose record cannot be understood or proven, and why: left as they are, visible, inert (I142). */
  readonly quarantined = new Map<string, string>();
  /** Those among them that have no record which can be read. */
  readonly #unreadable = new Set<string>();
  /** Directories that the start found of creations which were cut off before there was a session. */
  readonly unmade: string[] = [];
  readonly #index: IndexWriter;
  #order: readonly string[] | null = null;
  /** What bare intents say of sessions whose record a full disk did not take. */
  readonly #assumed = new Map<string, SessionRecord["wanted"]>();
  /** Sessions whose record may be in place, and may not be after a power cut, since a write of it failed. */
  readonly #unsynced = new Set<string>();
  /** Sessions whose record is durable for certain; whoever wrote one that a start found may have failed before its name was. */
  readonly #durable = new Set<string>();
  readonly #creators = new Map<string, SessionSummary>();
  /** Requests whose name a record on disk still has, and needs no more. */
  readonly #forgotten = new Map<string, Set<string>>();
  /** The last write of each session: writes of one record never overlap. */
  readonly #writes = new Map<string, Promise<void>>();

  constructor(home: string, fs: FileSystem = nodeFileSystem) {
    this.#home = home;
    this.#fs = fs;
    const found = readIndex(fs, home);
    const missing: IndexRow[] = [];
    for (const sessionId of sessionIdsOf(fs, home)) {
      const row = found.rows.get(sessionId);
      if (row && isResting(row) && fits(row, stampsOf(fs, home, sessionId))) this.#know(row);
      else missing.push(...this.#find(sessionId, row));
    }
    this.#index = new IndexWriter({ fs, home, rows: this.#rows }, found, missing);
  }

  /** Reads a record at the start, and gives the row that the index does not say of it. */
  #find(sessionId: string, known: IndexRow | undefined): readonly IndexRow[] {
    const directory = sessionDirectory(this.#home, sessionId);
    // Before the record is read: what changes it from then on changes its stamp.
    const record = recordStamp(this.#fs, this.#home, sessionId);
    const read = readSessionRecordAt(this.#fs, directory, sessionId);
    if (read.kind === "unreadable") {
      if (isUnmade(this.#fs, directory)) this.unmade.push(directory);
      else this.#distrust(sessionId, read.reason);
      return [];
    }
    // A folder that cannot be swept, and what lies in it, is read by nobody.
    sweepTemporary(this.#fs, directory);
    const stamps = { record, folder: folderStamp(this.#fs, this.#home, sessionId) };
    const row = { ...summaryOf(read.record), ...stamps };
    this.#know(row);
    this.#hold(read.record);
    return known && fits(known, stamps) ? [] : [row];
  }

  /** The session that a request has made, as it was then or later. */
  createdBy(requestId: string): SessionSummary | undefined {
    return this.#creators.get(requestId);
  }

  /** The whole record. One that is found damaged is quarantined from then on; throws where the system cannot read it. */
  get(sessionId: string): SessionRecord | undefined {
    const held = this.#records.get(sessionId) ?? this.#recent.get(sessionId);
    if (held || !this.#rows.has(sessionId)) return held;
    const read = readSessionRecordAt(this.#fs, sessionDirectory(this.#home, sessionId), sessionId);
    if (read.kind === "record") {
      const record = this.#withoutForgotten(read.record);
      this.#hold(record);
      return record;
    }
    if (read.errno !== undefined)
      throw new CodedError(read.errno, `session.json of ${sessionId} cannot be read: ${read.errno}`);
    this.#rows.delete(sessionId);
    this.#order = null;
    this.#distrust(sessionId, read.reason);
    return undefined;
  }

  #distrust(sessionId: string, reason: string): void {
    this.#unreadable.add(sessionId);
    this.quarantined.set(sessionId, reason);
  }

  /** Whether its record cannot be understood, by a look at the file where the session rests. Throws as `get` does. */
  isUnreadable(sessionId: string): boolean {
    this.#recent.delete(sessionId);
    this.get(sessionId);
    return this.#unreadable.has(sessionId);
  }

  /** What lists and selectors need, without a look at the disk. */
  summary(sessionId: string): SessionSummary | undefined {
    return this.#records.get(sessionId) ?? this.#rows.get(sessionId);
  }

  /** The ids of all that are known, the newest first. Sorted again only after one came or went. */
  newestFirst(): readonly string[] {
    return (this.#order ??= newestFirst(this.#rows.keys()));
  }

  *all(): Generator<SessionSummary> {
    for (const [sessionId, row] of this.#rows) yield this.#records.get(sessionId) ?? row;
  }

  /** Its files were moved away. */
  forgetUnreadable(sessionId: string): void {
    this.#unreadable.delete(sessionId);
    this.quarantined.delete(sessionId);
  }

  /** A new session's record. Durable when it resolves; in memory only then. */
  create(record: SessionRecord): Promise<void> {
    return this.#inOrder(record.sessionId, () => this.#write(record));
  }

  /** Changes a record as it is when its turn comes; nothing is written when nothing changes. */
  update(sessionId: string, change: (record: SessionRecord) => SessionRecord): Promise<void> {
    return this.#inOrder(sessionId, async () => {
      const record = this.get(sessionId);
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
      const record = this.get(sessionId);
      if (!record) return;
      this.#assumed.set(sessionId, wanted);
      this.#hold({ ...record, wanted });
    });
  }

  /** What only a bare intent says on disk; nothing where the record itself says it. */
  assumed(sessionId: string): SessionRecord["wanted"] | undefined {
    return this.#assumed.get(sessionId);
  }

  /** Makes what is shown of a session durable where it may not be. What a bare intent says is. */
  settle(sessionId: string): Promise<void> {
    return this.#inOrder(sessionId, async () => {
      if (!this.#rows.has(sessionId) || this.#assumed.has(sessionId)) return;
      const unsynced = this.#unsynced.has(sessionId) ? this.#records.get(sessionId) : undefined;
      if (unsynced) await this.#write(unsynced);
      if (this.#durable.has(sessionId)) return;
      await syncDirectoryAsync(this.#fs, sessionDirectory(this.#home, sessionId));
      this.#durable.add(sessionId);
    });
  }

  async #write(changed: SessionRecord): Promise<void> {
    const { sessionId } = changed;
    const record = this.#withoutForgotten(changed);
    const text = encodeRecord(record, bytesOf(this.#rows.get(sessionId)?.record ?? ""));
    try {
      await replaceFileAsync(this.#fs, sessionRecordPath(this.#home, sessionId), text);
    } catch (error) {
      // Every reader may find it from now on, and so do we. The next write makes it durable, also when it changes nothing.
      if (mayBeInPlace(error) && this.#rows.has(sessionId)) {
        this.#unsynced.add(sessionId);
        this.#show(record);
      }
      throw error;
    }
    for (const doubted of [this.#assumed, this.#unsynced]) doubted.delete(sessionId);
    this.#durable.add(sessionId);
    this.#note(record);
    this.#show(record);
    const written = new Set(record.recentRequests?.map(({ requestId }) => requestId));
    const still = [...(this.#forgotten.get(sessionId) ?? [])].filter((requestId) => written.has(requestId));
    if (still.length > 0) this.#forgotten.set(sessionId, new Set(still));
    else this.#forgotten.delete(sessionId);
  }

  /** What the disk has now is said by the index from now on. */
  #note(record: SessionRecord): void {
    const row = { ...summaryOf(record), ...stampsOf(this.#fs, this.#home, record.sessionId) };
    this.#know(row);
    this.#index.put(row);
  }

  #know(row: IndexRow): void {
    if (!this.#rows.has(row.sessionId)) this.#order = null;
    this.#rows.set(row.sessionId, row);
    this.#creators.set(row.creatingRequest.requestId, row);
  }

  /** What was forgotten or seen while this was being written goes with the next write. */
  #show(record: SessionRecord): void {
    const lastActivityAt = this.#records.get(record.sessionId)?.lastActivityAt ?? record.lastActivityAt;
    this.#hold({ ...this.#withoutForgotten(record), lastActivityAt });
  }

  #hold(record: SessionRecord): void {
    const { sessionId } = record;
    this.#recent.delete(sessionId);
    if (!isResting(record) || this.#assumed.has(sessionId) || this.#unsynced.has(sessionId)) {
      this.#records.set(sessionId, record);
      return;
    }
    this.#records.delete(sessionId);
    putLast(this.#recent, [sessionId, record], MAX_RECENT);
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
    if (!this.summary(sessionId)?.recentRequests?.some(({ requestId }) => requestId === forgotten)) return;
    this.#forgotten.set(sessionId, (this.#forgotten.get(sessionId) ?? new Set()).add(forgotten));
    const held = this.#records.get(sessionId) ?? this.#recent.get(sessionId);
    if (held) this.#hold(this.#withoutForgotten(held));
  }

  /** A session that is no more, once `work` has made that durable; no write of its record runs beside it. */
  remove(sessionId: string, work: () => Promise<void>): Promise<void> {
    return this.#inOrder(sessionId, async () => {
      await work();
      const creator = this.#rows.get(sessionId)?.creatingRequest.requestId;
      if (creator !== undefined) this.#creators.delete(creator);
      this.#order = null;
      for (const kept of [this.#rows, this.#records, this.#recent, this.#forgotten]) kept.delete(sessionId);
      for (const kept of [this.#assumed, this.#unsynced, this.#durable]) kept.delete(sessionId);
    });
  }

  /** Seen in lists at once; reaches the disk with the next write. */
  touch(sessionId: string, lastActivityAt: string): void {
    const record = this.#records.get(sessionId);
    if (record) this.#records.set(sessionId, { ...record, lastActivityAt });
  }
}
