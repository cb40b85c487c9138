import type { Clock } from "@holdfast/shared-process";
import type { FileSystem } from "./file-system.ts";
import type { LegacyWork } from "./legacy/read-legacy.ts";

/** JSON as it is stored, such as a record's `detail`. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** The durable name of one piece of in-flight work. An end counts only for the same open operation and generation. */
export interface OperationKey {
  readonly operationId: string;
  readonly generation: string;
}

declare const token: unique symbol;
/** Proof that a begin is durable. Made by the journal alone. */
export interface OperationToken<Kind extends string = string> extends OperationKey {
  readonly kind: Kind;
  readonly [token]: true;
}

export interface BeginRequest<Kind extends string = string> extends OperationKey {
  readonly kind: Kind;
  readonly detail?: JsonObject;
}

export interface OpenOperation<Kind extends string = string> extends OperationKey {
  readonly kind: Kind;
  readonly detail: JsonObject;
  /** The notes of this operation in order: `dispatched` and the like. */
  readonly notes: readonly JsonObject[];
  /** Order of its begin among the open operations; grows. */
  readonly sequence: number;
}

/** A request whose outcome is kept for repeats: id → hash of its content, and what came of it. */
export interface RememberedRequest {
  readonly requestId: string;
  readonly hash: string;
  /** `null` while its effect is not settled. */
  readonly outcome: JsonObject | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface JournalOwner {
  readonly generation: string;
  /** What the owner of the next segment needs to probe the writer; opaque to the journal. */
  readonly identity: JsonObject;
}

/**
 * A damage that a person has put aside. What the damaged journal said is not believed and not known: until it is resolved,
 * any operation may have been under way and any request may have been answered, so the owner serves nothing that depends on
 * it.
 */
export interface Quarantine {
  readonly id: string;
  /** The file, beside the segments, that has the damaged bytes; `null` where the journal was missing. */
  readonly evidence: string | null;
  /** Of these bytes, in hex; `null` where there are none. */
  readonly sha256: string | null;
  readonly why: "corrupt" | "oversize" | "missing";
  /** The words of whoever decided. */
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What a read of a journal's directory found. Reading never writes. */
export type JournalReport<Kind extends string = string> =
  | { readonly kind: "fresh" }
  | {
      readonly kind: "ok";
      readonly segment: number;
      readonly owner: JournalOwner;
      /** The writer closed it: it can be claimed without a probe. */
      readonly released: boolean;
      readonly open: readonly OpenOperation<Kind>[];
      readonly remembered: readonly RememberedRequest[];
      /** Unresolved ones: what was before them is uncertain. */
      readonly quarantines: readonly Quarantine[];
      /** Bytes of a torn last batch that the next open leaves behind, 0 if the tail was whole. */
      readonly tornBytes: number;
    }
  | {
      readonly kind: "refused";
      readonly why: "corrupt" | "missing" | "unreadable" | "unsupported-version" | "permissions" | "oversize";
      readonly path: string;
      /** Byte offset of the first damage, `null` where it has no place. */
      readonly offset: number | null;
      readonly message: string;
    };

export type OpenJournalResult<Kind extends string> =
  | {
      readonly kind: "opened";
      readonly journal: Journal<Kind>;
      /** `legacy`: what the file of this option leaves open. No token of it exists: an end for it is stale (I85). */
      readonly report: JournalReport<Kind> & { kind: "fresh" | "ok" } & { readonly legacy: LegacyWork };
    }
  | { readonly kind: "owned"; readonly owner: JournalOwner }
  | Extract<JournalReport<Kind>, { kind: "refused" }>;

/**
 * Who flushes; the write is always the caller's own. `inline`: the caller, which stands still meanwhile. `pool`: Node's
 * thread pool, where a flush waits behind other file calls and hashing. `thread`: one thread of the process for flushes
 * alone.
 */
export type JournalEngine = "inline" | "pool" | "thread";

export interface OpenJournalOptions<Kind extends string> {
  readonly directory: string;
  readonly owner: JournalOwner;
  /** The owner's closed set of operation kinds; a record of another kind is corruption. */
  readonly kinds: readonly Kind[];
  /**
   * Asked about an owner of another generation that did not release, and about that of an unfinished claim: only `gone` lets
   * the open go on.
   */
  readonly probeOwner: (owner: JournalOwner) => "gone" | "current" | "unknown";
  /** `existing`: a missing journal fails closed. Default `any`. */
  readonly expect?: "any" | "existing";
  /** Default `inline`. */
  readonly engine?: JournalEngine;
  readonly fs?: FileSystem;
  readonly now?: () => number;
  /** Times the mark behind the last record, and the growth and the return of the segment's size. */
  readonly clock?: Pick<Clock, "monotonic" | "setTimer">;
  /**
   * Remembered requests kept: at most this many, at most this old, but always those of open operations. Defaults 10,000 and
   * 24 h. The oldest go earlier where all take more than 2.5 MiB.
   */
  readonly remember?: { readonly count: number; readonly ageMs: number };
  /**
   * A file in the origin's format whose open work is reported beside the journal's, with whether its last line was cut off and may
   * hide some. It is read at the open and never written; if it is refused, so is the open. A missing file has no work.
   */
  readonly legacy?: string;
  /** The salt of each new segment, 8 hex digits. Default: random. */
  readonly newSalt?: () => string;
}

/**
 * One writer's open journal. What changes it is on disk when its promise resolves (group commit: one flush for all that was
 * appended in one turn). A rejection, by `CodedError`, says that the record is not there, unless it is one of two:
 * `journal_poisoned` (a write or flush failed) and `journal_fenced` (another writer took over), after which the journal takes
 * nothing more. `disk_full`: no token exists, the file is valid, a later call may succeed; a flush for which there is no room
 * poisons. Any call that appends may also reject with `journal_full`, `record_too_large` or, after `close`, `journal_closed`.
 */
export interface Journal<Kind extends string = string> {
  readonly state: "live" | "poisoned" | "fenced" | "closed";
  /** Rejects with `duplicate_operation` while one of this id is open. */
  begin(request: BeginRequest<Kind>): Promise<OperationToken<Kind>>;
  /**
   * Begin and remember in one atomic line: accepted work and the request that asked for it. Rejects as `begin`, and with
   * `duplicate_request` for a request that is remembered.
   */
  admit(
    request: BeginRequest<Kind>,
    remembered: { readonly requestId: string; readonly hash: string },
  ): Promise<OperationToken<Kind>>;
  /** All or nothing, in one line. Duplicates, in the list or open, reject before anything is allocated (I73). */
  restore(requests: readonly BeginRequest<Kind>[]): Promise<readonly OperationToken<Kind>[]>;
  /** The token of an open operation, such as one that was open when the journal was opened; `null` when there is none. */
  adopt(key: OperationKey): OperationToken<Kind> | null;
  /** Adds a note to an open operation, durably; rejects with `stale_token` when it is not open, or its end is under way. */
  note(token: OperationToken<Kind>, detail: JsonObject): Promise<void>;
  /** Ends it. A stale or unknown token changes nothing and is counted. `outcome` is remembered for its request, if it has one. */
  end(token: OperationToken<Kind>, outcome: JsonObject): Promise<"ended" | "stale">;
  /** Remembers the outcome of a request that opened no operation. Rejects with `duplicate_request` while a record of it is on its way. */
  remember(request: { readonly requestId: string; readonly hash: string; readonly outcome: JsonObject }): Promise<void>;
  remembered(requestId: string): RememberedRequest | null;
  open(): readonly OpenOperation<Kind>[];
  /** Unresolved ones. */
  quarantines(): readonly Quarantine[];
  /**
   * Says, durably, what was decided about a quarantine. Its evidence stays: the bytes are a person's to remove. Rejects with
   * `unknown_quarantine` when there is none of this id, or it is resolved.
   */
  resolveQuarantine(id: string, resolution: JsonObject): Promise<void>;
  counters(): {
    readonly staleEnds: number;
    readonly flushes: number;
    readonly records: number;
    readonly compactions: number;
  };
  /** Writes the synced `release`, so that the next owner needs no probe; where that fails it does. Idempotent, never rejects. */
  close(): Promise<void>;
}
