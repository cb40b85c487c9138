import type { OwnerRecord } from "@holdfast/client/protocol";
import {
  ensurePrivateDirectory,
  isInPlace,
  publishFile,
  removeFile,
  replaceFile,
  syncDirectory,
} from "@holdfast/recovery-journal";
import type { FileSystem, PublishResult } from "@holdfast/recovery-journal";
import { startIdOf } from "@holdfast/shared-process";
import type { ProcessIdentity, ProcessObserver } from "@holdfast/shared-process";
import { epochsOf, ownerFolder, ownerPath, readOwner, topOwner } from "@holdfast/session-worker/transport";
import { judgeOwner } from "./judge.ts";
import type { OwnerState } from "./judge.ts";

export interface ClaimOptions {
  readonly home: string;
  readonly fs: FileSystem;
  readonly observer: ProcessObserver;
  readonly identity: ProcessIdentity;
  readonly lifelinePath: string | null;
  readonly version: string;
  readonly phase: OwnerRecord["phase"];
  readonly claimedAt: string;
  /** The highest epoch named outside `owner/`: in descriptors, or by a worker. */
  readonly epochFloor: number;
  /**
   * The epoch of an owner of which nothing can be told and which a person has asserted to be gone. Should it live all the same, it
   * finds this claim's higher epoch before its next write, and ends: nothing is signalled, and no epoch is ever lowered (I164, I165).
   */
  readonly assertedGone?: number | undefined;
}

export type ClaimResult =
  | { readonly kind: "claimed"; readonly ownership: Ownership }
  | { readonly kind: "refused"; readonly state: Extract<OwnerState, { kind: "alive" | "unknown" }> };

/** One supervisor's hold on a home: an epoch that only grows. A claim, not a lock: who finds a higher one has lost. */
export class Ownership {
  readonly epoch: number;
  readonly #fs: FileSystem;
  #record: OwnerRecord;
  /** Another owner has the record of this very epoch: it was claimed while the record was missing. */
  #isLost = false;

  constructor(fs: FileSystem, record: OwnerRecord) {
    this.#fs = fs;
    this.#record = record;
    this.epoch = record.epoch;
  }

  isCurrent(): boolean {
    return !this.#isLost && epochsOf(this.#fs, this.#record.home)[0] === this.epoch;
  }

  /**
   * Its own record is missing or damaged and nobody else has come: writes it again, so that clients find the way (I140, I146). Where
   * somebody has, under the same number even, it is lost for good.
   */
  heal(): void {
    const { home } = this.#record;
    const top = topOwner(this.#fs, home);
    if (top.kind === "none") {
      ensurePrivateDirectory(this.#fs, ownerFolder(home));
      this.#isLost = publishRecord(this.#fs, this.#record).kind === "exists";
    } else if (top.kind === "unreadable" && top.epoch === this.epoch) this.#write();
    else if (top.kind === "found" && top.epoch === this.epoch) this.#isLost = !isOfOneOwner(top.record, this.#record);
  }

  /** Says that it stopped and takes its lifeline along, unless another epoch has taken the home. */
  leave(): void {
    const { lifelinePath } = this.#record;
    try {
      if (!this.enter("stopped", null)) return;
    } catch {
      // No space to say so: its end, which comes now, says as much. Its name stays, or the home would forget an epoch (I165).
      return;
    }
    if (lifelinePath !== null) removeFile(this.#fs, lifelinePath);
  }

  /** Publishes a phase; false, and nothing written, if another epoch has taken the home. */
  enter(phase: OwnerRecord["phase"], socketPath: string | null): boolean {
    if (!this.isCurrent()) return false;
    this.#record = { ...this.#record, phase, socketPath };
    this.#write();
    return true;
  }

  #write(): void {
    unlessInPlace(() => replaceFile(this.#fs, ownerPath(this.#record.home, this.epoch), textOf(this.#record)));
  }
}

/** Claims the next epoch by linking a complete record to its name: of any number of claimers one wins (I139). */
export function claimHome(options: ClaimOptions): ClaimResult {
  const { home, fs } = options;
  for (;;) {
    // One look: two claimers who judged the same owner want the same name, and the link decides (I139).
    const top = topOwner(fs, home);
    const state = judgeOwner(options.observer, home, top);
    const isAsserted = state.kind === "unknown" && top.kind !== "none" && top.epoch === options.assertedGone;
    if (state.kind === "alive" || (state.kind === "unknown" && !isAsserted)) return { kind: "refused", state };
    const epoch = 1 + Math.max(options.epochFloor, top.kind === "none" ? 0 : top.epoch);
    const record: OwnerRecord = {
      schemaVersion: 1,
      epoch,
      home,
      identity: options.identity,
      lifelinePath: options.lifelinePath,
      socketPath: null,
      version: options.version,
      phase: options.phase,
      claimedAt: options.claimedAt,
    };
    const published = publishRecord(fs, record);
    if (published.kind === "exists") continue;
    const ownership = new Ownership(fs, record);
    if (ownership.isCurrent()) {
      for (const older of epochsOf(fs, home).filter((other) => other < epoch)) sweepOwner(fs, home, older);
      return { kind: "claimed", ownership };
    }
    // A claimer with a newer view was faster: its epoch stands, and this one must not linger.
    removeFile(fs, ownerPath(home, epoch));
  }
}

const isOfOneOwner = (one: OwnerRecord, other: OwnerRecord): boolean =>
  one.claimedAt === other.claimedAt &&
  one.identity.pid === other.identity.pid &&
  startIdOf(one.identity) === startIdOf(other.identity);

const textOf = (record: OwnerRecord): string => `${JSON.stringify(record)}\n`;

function publishRecord(fs: FileSystem, record: OwnerRecord): PublishResult {
  const publish = (): PublishResult => publishFile(fs, ownerPath(record.home, record.epoch), textOf(record));
  const published = unlessInPlace(publish);
  if (published) return published;
  try {
    // Once more, since an epoch that a power cut takes back is claimed again.
    syncDirectory(fs, ownerFolder(record.home));
  } catch {
    // In place it is; a disk that refuses this keeps no home from its owner.
  }
  return { kind: "published" };
}

/**
 * A power cut that takes an owner's record back takes the owner too, and what it brings back names one that is gone: that the
 * record is in place is enough.
 */
function unlessInPlace<T>(write: () => T): T | null {
  try {
    return write();
  } catch (error) {
    if (!isInPlace(error)) throw error;
    return null;
  }
}

/** What an owner that stopped or is proven gone leaves behind; its names carry its epoch, so that they are nobody else's (I124). */
function sweepOwner(fs: FileSystem, home: string, epoch: number): void {
  const record = readOwner(fs, home, epoch);
  for (const path of [record?.socketPath, record?.lifelinePath, ownerPath(home, epoch)]) {
    try {
      if (path) removeFile(fs, path);
    } catch {
      // Something else has the name, or the disk refuses: it names an older epoch than this claim's, and the next claim tries again.
    }
  }
}
