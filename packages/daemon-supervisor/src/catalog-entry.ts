import type { SessionRecord } from "@holdfast/session-worker/transport";
import { isResting } from "./session-index/row.ts";
import type { IndexRow, SessionSummary } from "./session-index/row.ts";

/**
 * What is shown of a session, and whether the disk has it so. `found`: a start has read it, and whoever wrote it may have failed
 * before its name was durable. `unsynced`: a write of it failed and may be in place. `assumed`: a bare intent says so, durably, since
 * the disk would not take it as a record. The last that happened counts:
 *
 *     |                                | found          | durable  | unsynced        | assumed  |
 *     | ------------------------------ | -------------- | -------- | --------------- | -------- |
 *     | a write succeeds               | durable        | durable  | durable         | durable  |
 *     | one fails, and may be in place | unsynced       | unsynced | unsynced        | unsynced |
 *     | assume                         | assumed        | assumed  | assumed         | assumed  |
 *     | settle                         | sync → durable | –        | write → durable | –        |
 *     | an update that changes nothing | –              | –        | write           | write    |
 *
 * `held` is the whole record; `null` of a session at rest, whose record is read at each use.
 */
type Shown =
  | { readonly standing: "found" | "durable"; readonly held: SessionRecord | null }
  | { readonly standing: "unsynced" | "assumed"; readonly held: SessionRecord };

/** Of which a home has many. */
const AT_REST = {
  found: { standing: "found", held: null },
  durable: { standing: "durable", held: null },
} as const satisfies Record<string, Shown>;

/** What a catalog knows of one session. */
export interface Entry {
  /** What the record on disk says. */
  row: IndexRow;
  shown: Shown;
  /** Requests whose name the record on disk still has, and needs no more. */
  forgotten: ReadonlySet<string>;
  /** It is not only looked at: its record is held also while it says that the session rests. */
  inUse: boolean;
}

export const NONE: ReadonlySet<string> = new Set();

/** Of a session whose record was not read. */
export const entryOf = (row: IndexRow): Entry => ({ row, shown: AT_REST.found, forgotten: NONE, inUse: false });

export const isOwing = ({ shown }: Entry): boolean => shown.standing === "unsynced" || shown.standing === "assumed";

export const summaryOfEntry = ({ row, shown }: Entry): SessionSummary => shown.held ?? row;

/** What was forgotten or seen while this was being written goes with the next write. */
export function show(entry: Entry, standing: "found" | "durable" | "unsynced", written: SessionRecord): void {
  const lastActivityAt = entry.shown.held?.lastActivityAt ?? written.lastActivityAt;
  const held = { ...without(entry.forgotten, written), lastActivityAt };
  entry.inUse ||= !isResting(held);
  entry.shown = standing === "unsynced" || entry.inUse ? { standing, held } : AT_REST[standing];
}

export function hold(entry: Entry, record: SessionRecord): void {
  entry.inUse = true;
  entry.shown = { ...entry.shown, held: record };
}

export function letGo(entry: Entry): void {
  const { standing, held } = entry.shown;
  entry.inUse = held !== null && !isResting(held);
  if (!entry.inUse && (standing === "found" || standing === "durable")) entry.shown = AT_REST[standing];
}

export function without(forgotten: ReadonlySet<string>, record: SessionRecord): SessionRecord {
  if (forgotten.size === 0 || !record.recentRequests) return record;
  return { ...record, recentRequests: record.recentRequests.filter(({ requestId }) => !forgotten.has(requestId)) };
}
