import { OPEN_OPERATIONS_MAX, READER_OPEN_OPERATIONS_MAX } from "../format.ts";
import type {
  LiveRecord,
  OpenRecord,
  QuarantineRecord,
  RequestRecord,
  SnapshotRecord,
  StoredOperation,
} from "../format/records.ts";
import type { JsonObject, OpenOperation, Quarantine, RememberedRequest } from "../types.ts";

export interface OpenEntry {
  readonly operation: StoredOperation;
  readonly notes: readonly JsonObject[];
  readonly order: number;
  /** The request that asked for it: its outcome is the operation's. */
  readonly requestId: string | null;
}

/** What the records of a journal say, by the ids of operations, of requests (oldest first) and of unresolved quarantines. */
export interface JournalState {
  readonly open: Map<string, OpenEntry>;
  readonly requests: Map<string, RememberedRequest>;
  readonly quarantines: Map<string, Quarantine>;
  nextOrder: number;
  released: boolean;
}

export function emptyState(): JournalState {
  return { open: new Map(), requests: new Map(), quarantines: new Map(), nextOrder: 1, released: false };
}

/** Applies one record; answers what is wrong with it, or `null`. A state that a record did not fit is not to be used further. */
export function applyRecord(state: JournalState, record: SnapshotRecord | LiveRecord): string | null {
  if (state.released) return "a record follows the release";
  switch (record.t) {
    case "open":
      return applyOpen(state, record);
    case "seal":
      if (record.count !== state.open.size + state.requests.size + state.quarantines.size)
        return "the seal counts other records";
      state.nextOrder = record.next;
      return null;
    case "request":
      rememberLast(state, { requestId: record.id, hash: record.hash, outcome: record.outcome, at: record.at });
      return null;
    case "quarantine": {
      const { t: _, ...quarantine } = record;
      state.quarantines.set(quarantine.id, quarantine);
      return null;
    }
    case "resolve":
      return state.quarantines.delete(record.id) ? null : "a quarantine that there is not is resolved";
    case "begin": {
      const { req } = record;
      if (req !== null) rememberLast(state, { requestId: req.id, hash: req.hash, outcome: null, at: req.at });
      for (const operation of record.ops) {
        const problem = insert(state, { operation, notes: [], order: state.nextOrder, requestId: req?.id ?? null });
        if (problem !== null) return problem;
        state.nextOrder += 1;
      }
      return null;
    }
    case "note": {
      const entry = find(state, record);
      if (entry === null) return "a note names an operation that is not open";
      // In place, as a copy for each note would take the square of their number: the list is this state's alone.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by a begin, or by the parser for one record
      (entry.notes as JsonObject[]).push(record.detail);
      return null;
    }
    case "end":
      return applyEnd(state, record);
    case "release":
      state.released = true;
      return null;
  }
}

function applyOpen(state: JournalState, record: OpenRecord): string | null {
  return insert(state, { operation: record.op, notes: record.notes, order: record.o, requestId: record.req });
}

function applyEnd(state: JournalState, record: { id: string; g: string; outcome: JsonObject }): string | null {
  const entry = find(state, record);
  if (entry === null) return "an end names an operation that is not open";
  state.open.delete(record.id);
  const request = entry.requestId === null ? undefined : state.requests.get(entry.requestId);
  if (request !== undefined) state.requests.set(request.requestId, { ...request, outcome: record.outcome });
  return null;
}

function insert(state: JournalState, entry: OpenEntry): string | null {
  if (state.open.has(entry.operation.id)) return "an operation begins twice";
  if (state.open.size >= READER_OPEN_OPERATIONS_MAX) return "too many open operations";
  state.open.set(entry.operation.id, entry);
  return null;
}

function find(state: JournalState, key: { id: string; g: string }): OpenEntry | null {
  const entry = state.open.get(key.id);
  return entry !== undefined && entry.operation.g === key.g ? entry : null;
}

/** A request that is remembered again is the youngest again. */
function rememberLast(state: JournalState, request: RememberedRequest): void {
  state.requests.delete(request.requestId);
  state.requests.set(request.requestId, request);
}

/** The records from which a new segment rebuilds this state. */
export function snapshotRecords(state: JournalState): SnapshotRecord[] {
  const open = [...state.open.values()].map((entry): OpenRecord => {
    return { t: "open", op: entry.operation, notes: entry.notes, o: entry.order, req: entry.requestId };
  });
  const requests = [...state.requests.values()].map((request): RequestRecord => {
    return { t: "request", id: request.requestId, hash: request.hash, outcome: request.outcome, at: request.at };
  });
  const quarantines = [...state.quarantines.values()].map((quarantine): QuarantineRecord => {
    return { t: "quarantine", ...quarantine };
  });
  const records = [...open, ...requests, ...quarantines];
  return [...records, { t: "seal", count: records.length, next: state.nextOrder }];
}

export function openOperations<Kind extends string>(
  state: JournalState,
  kinds: readonly Kind[],
): OpenOperation<Kind>[] {
  const operations: OpenOperation<Kind>[] = [];
  for (const entry of [...state.open.values()].toSorted((left, right) => left.order - right.order)) {
    const kind = kinds.find((candidate) => candidate === entry.operation.k);
    if (kind === undefined) continue;
    const { id: operationId, g: generation, detail } = entry.operation;
    operations.push({ operationId, generation, kind, detail, notes: [...entry.notes], sequence: entry.order });
  }
  return operations;
}

export function hasRoomFor(state: JournalState, more: number): boolean {
  return state.open.size + more <= OPEN_OPERATIONS_MAX;
}
