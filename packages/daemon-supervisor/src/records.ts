import { basename } from "node:path";
import {
  ensurePrivateDirectory,
  mayBeInPlace,
  removeFile,
  replaceFileAsync,
  syncDirectoryAsync,
  systemErrnoOf,
} from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import type { Clock } from "@holdfast/shared-process";
import { errnoOf } from "@holdfast/shared-process";
import type { SessionRecord } from "@holdfast/session-worker/transport";
import type { Catalog } from "./catalog.ts";
import { saysDiskFull } from "./disk.ts";
import { descriptorPath, encodeDescriptor, intentPath } from "./descriptor.ts";
import type { DescriptorShape } from "./descriptor.ts";
import { workersFolder } from "./home.ts";
import { ensureMarker } from "./marker.ts";
import { Lanes } from "./lanes.ts";
import { durableShape } from "./lifecycle/durable.ts";
import type { LaunchTime, State, StopIntent } from "./lifecycle/state.ts";
import { checkOwner } from "./ownership/check-owner.ts";
import type { Persisted, RequestStamp } from "./registry-ports.ts";

/** Paths of bare intents that a start has found. */
export interface KnownIntents {
  readonly standing: readonly string[];
  /** Those that the session's record was written over. */
  readonly overtaken: readonly string[];
}

interface RecordsOptions {
  readonly home: string;
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly epoch: number;
  readonly isOwner: () => boolean;
}

/** Writes what a state needs on disk, and only what changed: `wanted` first, the descriptor after it. */
export class Records {
  readonly #options: RecordsOptions;
  /** Descriptor text without its stamps, per session, as last written. */
  readonly #written = new Map<string, string>();
  /** Bytes of each descriptor as it was last written or found; none while it is being written. */
  readonly #sizes = new Map<string, bigint>();
  /** Bare intents that stand for a session, the newest last. */
  readonly #intents = new Map<string, readonly string[]>();
  /** Those that stand for nothing, and may be there all the same: they are to be removed before anybody is told of what they deny. */
  readonly #strays = new Map<string, readonly string[]>();
  /** Removals of one session's strays run one after the other. */
  readonly #removals = new Lanes();

  constructor(options: RecordsOptions) {
    this.#options = options;
  }

  /** Descriptors that somebody removed or cut short under us; their states write them again (I146). */
  lost(): readonly string[] {
    const lost = [...this.#sizes].flatMap(([sessionId, size]) => (this.#sizeOf(sessionId) === size ? [] : [sessionId]));
    for (const sessionId of lost) {
      this.#written.set(sessionId, UNKNOWN);
      this.#sizes.delete(sessionId);
    }
    return lost;
  }

  #sizeOf(sessionId: string): bigint | null {
    const { fs, home } = this.#options;
    try {
      return fs.lstat(descriptorPath(home, sessionId)).size;
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return null;
      throw error;
    }
  }

  /** What a boot found, so that an unchanged state writes nothing. */
  known(sessionId: string, shape: DescriptorShape): void {
    this.#written.set(sessionId, JSON.stringify(shape));
    const size = this.#sizeOf(sessionId);
    if (size !== null) this.#sizes.set(sessionId, size);
  }

  /** Of an older form: whatever comes next is written, or the file removed. */
  knownOlder(sessionId: string): void {
    this.#written.set(sessionId, UNKNOWN);
  }

  knownIntents(sessionId: string, { standing, overtaken }: KnownIntents): void {
    if (standing.length > 0) this.#intents.set(sessionId, standing);
    this.#stray(sessionId, overtaken);
  }

  /** A session without a registration: only its record is written, and no bare name says otherwise any more. */
  async rest(sessionId: string, change: (record: SessionRecord) => SessionRecord): Promise<void> {
    const { catalog } = this.#options;
    const record = catalog.get(sessionId);
    const isAsItIs = record !== undefined && catalog.assumed(sessionId) === change(record).wanted;
    try {
      await this.change(sessionId, (now) => this.#overtaking(change(now), null));
    } catch (error) {
      // Its bare intent says the same already, and stays until the record can (I168).
      if (isAsItIs && saysDiskFull(error)) return;
      throw error;
    }
    await this.#dropBareIntents(sessionId);
    catalog.letGo(sessionId);
  }

  /** What does not depend on the session's state. */
  async change(sessionId: string, change: (record: SessionRecord) => SessionRecord): Promise<void> {
    await this.#options.catalog.update(sessionId, change);
  }

  /** Makes what is shown of a session durable: its record, and that no bare name says otherwise. */
  async settle(sessionId: string): Promise<void> {
    await this.#options.catalog.settle(sessionId);
    await this.#removeStrays(sessionId);
  }

  async persist(sessionId: string, next: Persisted): Promise<void> {
    const { state, last } = next;
    const intent = intentOf(state ?? last);
    try {
      await this.#write(sessionId, next);
    } catch (error) {
      checkOwner(this.#options.isOwner);
      // Somebody removed the folder of the descriptors: it is made again, and the next try finds it (I146).
      if (systemErrnoOf(error) === "ENOENT")
        ensurePrivateDirectory(this.#options.fs, workersFolder(this.#options.home));
      if (!intent || !this.#writeBareIntent(sessionId, intent)) throw error;
      await this.#removeStrays(sessionId);
      // The name says what the records could not: the stop goes on, and a later boot finishes what is left to write (I168).
      if (state === null) await this.#removeUnwritten(sessionId, last);
    }
    if (state === null) this.#options.catalog.letGo(sessionId);
  }

  async #write(sessionId: string, { state, last, request }: Persisted): Promise<void> {
    const { catalog } = this.#options;
    const { wanted, failure, descriptor, launches } = durableShape(state ?? last);
    const intent = intentOf(state ?? last);
    await catalog.update(sessionId, (record) => ({
      ...this.#overtaking(withLaunches(withRequest(record, request), state === null ? [] : launches), intent),
      wanted,
      failure: state === null ? null : failure,
      lastError: failure?.reason ?? (state?.name === "ready" ? null : record.lastError),
    }));
    if (state === null || descriptor === "none") await this.#remove(sessionId);
    else if (descriptor !== "keep") await this.#replace(sessionId, descriptor);
    // Said in full now, or rescinded: it must not be found again by its bare name.
    await this.#dropBareIntents(sessionId);
  }

  /**
   * A record that is written while other intents stand as bare names says that it comes after them: they go behind it, and a crash in
   * between must not bring their goal back over this one (I129).
   */
  #overtaking(record: SessionRecord, intent: StopIntent | null): SessionRecord {
    const { sessionId } = record;
    const own = intent && intentPath(this.#options.home, sessionId, intent);
    const others = [...(this.#intents.get(sessionId) ?? []), ...(this.#strays.get(sessionId) ?? [])];
    const overtaken = others.filter((path) => path !== own).map((path) => basename(path).split(".")[1] ?? "");
    return overtaken.length === 0 ? record : { ...record, overtaken };
  }

  async #removeUnwritten(sessionId: string, last: State): Promise<void> {
    await this.#options.catalog.assume(sessionId, durableShape(last).wanted);
    await this.#removeDescriptor(sessionId);
  }

  async #replace(sessionId: string, shape: DescriptorShape): Promise<void> {
    const text = JSON.stringify(shape);
    if (this.#written.get(sessionId) !== text) {
      const { home, fs, epoch, clock, isOwner } = this.#options;
      checkOwner(isOwner);
      const bytes = encodeDescriptor(sessionId, shape, { epoch, at: new Date(clock.now()).toISOString() });
      this.#sizes.delete(sessionId);
      try {
        await replaceFileAsync(fs, descriptorPath(home, sessionId), bytes);
      } catch (error) {
        // It may be there, unlike what was written before: whatever comes next is written, or removed.
        if (mayBeInPlace(error)) this.#written.set(sessionId, UNKNOWN);
        throw error;
      }
      this.#written.set(sessionId, text);
      this.#sizes.set(sessionId, BigInt(Buffer.byteLength(bytes)));
    }
  }

  async #remove(sessionId: string): Promise<void> {
    if (!this.#written.has(sessionId)) return;
    // Nothing but its record tells of its end from then on.
    await this.#options.catalog.settle(sessionId);
    await this.#removeDescriptor(sessionId);
  }

  async #removeDescriptor(sessionId: string): Promise<void> {
    const { home, fs, isOwner } = this.#options;
    checkOwner(isOwner);
    removeFile(fs, descriptorPath(home, sessionId));
    await syncDirectoryAsync(fs, workersFolder(home));
    this.#written.delete(sessionId);
    this.#sizes.delete(sessionId);
  }

  /** A full disk never prevents a stop (I168): an empty file needs no block. */
  #writeBareIntent(sessionId: string, intent: StopIntent): boolean {
    const { home, fs } = this.#options;
    const path = intentPath(home, sessionId, intent);
    const standing = this.#intents.get(sessionId) ?? [];
    try {
      ensureMarker(fs, path, descriptorPath(home, sessionId));
    } catch {
      // Not even a name could be made: the caller reports the first error and tries again.
      this.#stray(sessionId, [path]);
      return false;
    }
    this.#intents.set(sessionId, [path]);
    this.#stray(
      sessionId,
      standing.filter((other) => other !== path),
    );
    return true;
  }

  /** Behind the records that say in full what they said, or rescind it. */
  async #dropBareIntents(sessionId: string): Promise<void> {
    if (!this.#intents.has(sessionId) && !this.#strays.has(sessionId)) return;
    await this.#options.catalog.settle(sessionId);
    this.#stray(sessionId, this.#intents.get(sessionId) ?? []);
    this.#intents.delete(sessionId);
    await this.#removeStrays(sessionId);
  }

  #stray(sessionId: string, paths: readonly string[]): void {
    const strays = new Set([...(this.#strays.get(sessionId) ?? []), ...paths]);
    if (strays.size > 0) this.#strays.set(sessionId, [...strays]);
  }

  #removeStrays(sessionId: string): Promise<void> {
    return this.#removals.run(sessionId, async () => {
      const { home, fs, isOwner } = this.#options;
      const standing = this.#intents.get(sessionId) ?? [];
      const strays = (this.#strays.get(sessionId) ?? []).filter((path) => !standing.includes(path));
      this.#strays.delete(sessionId);
      if (strays.length === 0) return;
      try {
        checkOwner(isOwner);
        for (const path of strays) removeFile(fs, path);
        await syncDirectoryAsync(fs, workersFolder(home));
      } catch (error) {
        this.#stray(sessionId, strays);
        throw error;
      }
    });
  }
}

/** One file holds a request's effect, its name and the names it brought: after any crash all are there, or none (I143, I59). */
export function withRequest(record: SessionRecord, request: RequestStamp | null): SessionRecord {
  const { recentRequests = [] } = record;
  if (!request || recentRequests.some(({ requestId }) => requestId === request.requestId)) return record;
  const { requestId, hash, secretNames = [] } = request;
  return {
    ...record,
    secretNames: [...new Set([...record.secretNames, ...secretNames])],
    recentRequests: [...recentRequests, { requestId, hash }].slice(-RECENT_REQUESTS),
  };
}

/** Most sessions never have any: then nothing is written. */
function withLaunches(record: SessionRecord, launches: readonly LaunchTime[]): SessionRecord {
  const isSame = JSON.stringify(record.launches ?? []) === JSON.stringify(launches);
  return isSame ? record : { ...record, launches: [...launches] };
}

/** Kept in a session's own record until the home's journal has them; more pile up only where that takes nothing. */
const RECENT_REQUESTS = 256;

/** In place of a descriptor's text that may be there or not: it is like no other. */
const UNKNOWN = "";

const intentOf = (state: State): StopIntent | null =>
  state.name === "stopping" || state.name === "finalizing" ? state.intent : null;
