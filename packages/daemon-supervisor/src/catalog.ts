import { mayBeInPlace, nodeFileSystem, replaceFileAsync, syncDirectoryAsync } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { CodedError } from "@holdfast/shared-process";
import { sessionDirectory, sessionRecordPath } from "@holdfast/session-worker/transport";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import { NONE, entryOf, hold, isOwing, letGo, show, summaryOfEntry, without } from "./catalog-entry.ts";
import type { Entry } from "./catalog-entry.ts";
import { requireFolder } from "./folder.ts";
import { Lanes } from "./lanes.ts";
import { checkOwner } from "./ownership/check-owner.ts";
import { newestFirst } from "./page.ts";
import { IndexWriter } from "./session-index/index-writer.ts";
import { readIndex } from "./session-index/read-index.ts";
import { bytesOf, fits, folderStamp, isResting, recordStamp, stampsOf, summaryOf } from "./session-index/row.ts";
import type { IndexRow, SessionSummary } from "./session-index/row.ts";
import { sessionQuarantined } from "./quarantined.ts";
import { encodeRecord, readSessionRecordAt, sessionIdsOf } from "./session-record-file.ts";
import { sweepTemporary } from "./sweep.ts";
import { discardUnmade, isUnmade } from "./unmade.ts";

export class Catalog {
  readonly #home: string;
  readonly #fs: FileSystem;
  readonly #entries = new Map<string, Entry>();
  /** The session that each creating request has made. */
  readonly #creators = new Map<string, string>();
  /** Sessions whose record cannot be understood or proven, and why: left as they are, visible, inert (I142). */
  readonly quarantined = new Map<string, string>();
  /** Those among them that have no record which can be read, with what was known of each before. */
  readonly #unreadable = new Map<string, IndexRow | undefined>();
  readonly #index: IndexWriter;
  #order: readonly string[] | null = null;
  readonly #lanes = new Lanes();
  readonly #isOwner: () => boolean;

  /** Of the owner of the home: what creations left that were cut off is removed. */
  constructor(home: string, fs: FileSystem = nodeFileSystem, isOwner: () => boolean = () => true) {
    this.#home = home;
    this.#fs = fs;
    this.#isOwner = isOwner;
    const found = readIndex(fs, home);
    const missing: IndexRow[] = [];
    for (const sessionId of sessionIdsOf(fs, home)) {
      const row = found.rows.get(sessionId);
      if (row && isResting(row) && fits(row, stampsOf(fs, home, sessionId))) this.#know(row);
      else missing.push(...this.#find(sessionId, row));
    }
    this.#index = new IndexWriter({ fs, home, entries: this.#entries }, found, missing);
  }

  /** Reads a record at the start, and gives the row that the index does not say of it. */
  #find(sessionId: string, known: IndexRow | undefined): readonly IndexRow[] {
    const directory = sessionDirectory(this.#home, sessionId);
    // Before the record is read: what changes it from then on changes its stamp.
    const record = recordStamp(this.#fs, this.#home, sessionId);
    const read = readSessionRecordAt(this.#fs, directory, sessionId);
    if (read.kind === "unreadable") {
      if (isUnmade(this.#fs, directory)) discardUnmade(this.#fs, directory);
      else this.#distrust(sessionId, read.reason, known);
      return [];
    }
    // A folder that cannot be swept, and what lies in it, is read by nobody.
    sweepTemporary(this.#fs, directory);
    const stamps = { record, folder: folderStamp(this.#fs, this.#home, sessionId) };
    const row = { ...summaryOf(read.record), ...stamps };
    show(this.#know(row), "found", read.record);
    return known && fits(known, stamps) ? [] : [row];
  }

  /** The session that a request has made, as it was then or later. */
  createdBy(requestId: string): SessionSummary | undefined {
    const sessionId = this.#creators.get(requestId);
    if (sessionId === undefined) return undefined;
    return this.#entries.get(sessionId)?.row ?? this.#unreadable.get(sessionId);
  }

  /**
   * The whole record. One that is found damaged is quarantined from then on. Throws where the system cannot read it, and `file_not_found`
   * where somebody removed its folder: that one is known until it is deleted, or its folder is back.
   */
  get(sessionId: string): SessionRecord | undefined {
    const entry = this.#entries.get(sessionId);
    if (!entry) return undefined;
    if (entry.shown.held) return entry.shown.held;
    const read = readSessionRecordAt(this.#fs, sessionDirectory(this.#home, sessionId), sessionId);
    if (read.kind === "record") return without(entry.forgotten, read.record);
    requireFolder({ home: this.#home, fs: this.#fs }, sessionId);
    if (read.errno !== undefined)
      throw new CodedError(read.errno, `session.json of ${sessionId} cannot be read: ${read.errno}`);
    this.#distrust(sessionId, read.reason);
    return undefined;
  }

  /** As `get`, and held from then on: a registration is to act on it, which must not need the disk for it. */
  hold(sessionId: string): SessionRecord | undefined {
    const record = this.get(sessionId);
    const entry = this.#entries.get(sessionId);
    if (record && entry) hold(entry, record);
    return record;
  }

  /** Nothing acts on it any more: its record is read at each use, once the disk has it as it is shown. */
  letGo(sessionId: string): void {
    const entry = this.#entries.get(sessionId);
    if (entry) letGo(entry);
  }

  #distrust(sessionId: string, reason: string, known = this.#entries.get(sessionId)?.row): void {
    this.#unreadable.set(sessionId, known);
    if (known) this.#creators.set(known.creatingRequest.requestId, sessionId);
    this.quarantined.set(sessionId, reason);
    this.#entries.delete(sessionId);
    this.#order = null;
  }

  /** Whether its record cannot be understood, by a look at the file where the session rests. Throws as `get` does. */
  isUnreadable(sessionId: string): boolean {
    this.get(sessionId);
    return this.#unreadable.has(sessionId);
  }

  /** What lists and selectors need, without a look at the disk. */
  summary(sessionId: string): SessionSummary | undefined {
    const entry = this.#entries.get(sessionId);
    return entry && summaryOfEntry(entry);
  }

  /** The ids of all that are known, the newest first. Sorted again only after one came or went. */
  newestFirst(): readonly string[] {
    return (this.#order ??= newestFirst(this.#entries.keys()));
  }

  *all(): Generator<SessionSummary> {
    for (const entry of this.#entries.values()) yield summaryOfEntry(entry);
  }

  /** The request that made a session whose record cannot be read any more, as far as that is known. */
  creatorOf(sessionId: string): SessionSummary["creatingRequest"] | undefined {
    return this.#unreadable.get(sessionId)?.creatingRequest;
  }

  /** Its files were moved away. */
  forgetUnreadable(sessionId: string): void {
    const creator = this.creatorOf(sessionId);
    if (creator) this.#creators.delete(creator.requestId);
    this.#unreadable.delete(sessionId);
    this.quarantined.delete(sessionId);
  }

  /** Writes of one record never overlap, and whoever lost the home while it waited for its turn writes nothing. */
  #inTurn(sessionId: string, work: () => Promise<void>): Promise<void> {
    return this.#lanes.run(sessionId, () => {
      checkOwner(this.#isOwner);
      return work();
    });
  }

  /** A new session's record. Durable when it resolves; in memory only then. */
  create(record: SessionRecord): Promise<void> {
    return this.#inTurn(record.sessionId, () => this.#write(record));
  }

  /**
   * Changes a record as it is when its turn comes; nothing is written when nothing changes. Throws `session_quarantined` where it is found
   * damaged then.
   */
  update(sessionId: string, change: (record: SessionRecord) => SessionRecord): Promise<void> {
    return this.#inTurn(sessionId, async () => {
      const record = this.get(sessionId);
      const entry = this.#entries.get(sessionId);
      const damage = this.quarantined.get(sessionId);
      if (this.#unreadable.has(sessionId) && damage !== undefined) throw sessionQuarantined(sessionId, damage);
      if (!record || !entry) return;
      const changed = change(record);
      if (isOwing(entry) || JSON.stringify(changed) !== JSON.stringify(record)) await this.#write(changed);
    });
  }

  /** What the disk would not take: shown so from the next turn on, and written with the next change. */
  assume(sessionId: string, wanted: SessionRecord["wanted"]): Promise<void> {
    // A write that is under way has another goal in its record, and must not bring that back.
    return this.#inTurn(sessionId, async () => {
      const record = this.get(sessionId);
      const entry = this.#entries.get(sessionId);
      if (record && entry) entry.shown = { standing: "assumed", held: { ...record, wanted } };
    });
  }

  /** What only a bare intent says on disk; nothing where the record itself says it, or may. */
  assumed(sessionId: string): SessionRecord["wanted"] | undefined {
    const shown = this.#entries.get(sessionId)?.shown;
    return shown?.standing === "assumed" ? shown.held.wanted : undefined;
  }

  /** Makes what is shown of a session durable where it may not be. What a bare intent says is. */
  settle(sessionId: string): Promise<void> {
    return this.#inTurn(sessionId, async () => {
      const entry = this.#entries.get(sessionId);
      if (entry?.shown.standing === "unsynced") await this.#write(entry.shown.held);
      else if (entry) await this.#sync(entry, sessionId);
    });
  }

  async #sync(entry: Entry, sessionId: string): Promise<void> {
    if (entry.shown.standing !== "found") return;
    await syncDirectoryAsync(this.#fs, sessionDirectory(this.#home, sessionId));
    entry.shown = { ...entry.shown, standing: "durable" };
  }

  async #write(changed: SessionRecord): Promise<void> {
    const { sessionId } = changed;
    const before = this.#entries.get(sessionId);
    const record = without(before?.forgotten ?? NONE, changed);
    const text = encodeRecord(record, bytesOf(before?.row.record ?? ""));
    try {
      await replaceFileAsync(this.#fs, sessionRecordPath(this.#home, sessionId), text);
    } catch (error) {
      // Every reader may find it from now on, and so do we. The next write makes it durable, also when it changes nothing.
      if (before && mayBeInPlace(error)) show(before, "unsynced", record);
      throw error;
    }
    const row = { ...summaryOf(record), ...stampsOf(this.#fs, this.#home, sessionId) };
    const entry = this.#know(row);
    // What the disk has now is said by the index from now on.
    this.#index.put(row);
    show(entry, "durable", record);
    const written = new Set(record.recentRequests?.map(({ requestId }) => requestId));
    const still = [...entry.forgotten].filter((requestId) => written.has(requestId));
    entry.forgotten = still.length > 0 ? new Set(still) : NONE;
  }

  #know(row: IndexRow): Entry {
    const { sessionId } = row;
    this.#creators.set(row.creatingRequest.requestId, sessionId);
    const known = this.#entries.get(sessionId);
    if (known) {
      known.row = row;
      return known;
    }
    const entry = entryOf(row);
    this.#entries.set(sessionId, entry);
    this.#order = null;
    return entry;
  }

  /** Its answer is remembered elsewhere now; the next write of the record drops it. */
  forgetRequest(sessionId: string, requestId: string): void {
    const entry = this.#entries.get(sessionId);
    if (!entry || !summaryOfEntry(entry).recentRequests?.some((request) => request.requestId === requestId)) return;
    entry.forgotten = new Set([...entry.forgotten, requestId]);
    const { held } = entry.shown;
    if (held) entry.shown = { ...entry.shown, held: without(entry.forgotten, held) };
  }

  /** A session that is no more, once `work` has made that durable; no write of its record runs beside it. */
  remove(sessionId: string, work: () => Promise<void>): Promise<void> {
    return this.#inTurn(sessionId, async () => {
      // Whoever looks for it meanwhile finds what it was, and not a folder without it.
      if (this.#fs.exists(sessionDirectory(this.#home, sessionId))) this.hold(sessionId);
      await work().catch((error: unknown) => {
        this.letGo(sessionId);
        throw error;
      });
      const creator = this.#entries.get(sessionId)?.row.creatingRequest.requestId;
      if (creator !== undefined) this.#creators.delete(creator);
      this.#entries.delete(sessionId);
      this.#order = null;
    });
  }

  /** Seen in lists at once; reaches the disk with the next write. */
  touch(sessionId: string, lastActivityAt: string): void {
    const entry = this.#entries.get(sessionId);
    const held = entry?.shown.held;
    if (entry && held) entry.shown = { ...entry.shown, held: { ...held, lastActivityAt } };
  }
}
