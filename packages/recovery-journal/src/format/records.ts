import type { JournalOwner, JsonObject, Quarantine } from "../types.ts";
import { FORMAT_VERSION } from "../format.ts";
import { isRecord } from "./line.ts";

/** An operation as a begin states it: id, generation, kind. */
export interface StoredOperation {
  readonly id: string;
  readonly g: string;
  readonly k: string;
  readonly detail: JsonObject;
}

export interface Head {
  readonly t: "head";
  readonly v: number;
  readonly n: number;
  readonly e: string;
  readonly cap: number;
  readonly owner: JournalOwner;
}

export type OpenRecord = {
  readonly t: "open";
  readonly op: StoredOperation;
  readonly notes: readonly JsonObject[];
  readonly o: number;
  readonly req: string | null;
};
export type RequestRecord = {
  readonly t: "request";
  readonly id: string;
  readonly hash: string;
  readonly outcome: JsonObject | null;
  readonly at: number;
};
export type QuarantineRecord = { readonly t: "quarantine" } & Quarantine;
export type SealRecord = { readonly t: "seal"; readonly count: number; readonly next: number };
export type BeginRecord = {
  readonly t: "begin";
  readonly ops: readonly StoredOperation[];
  readonly req: { readonly id: string; readonly hash: string; readonly at: number } | null;
};
export type NoteRecord = { readonly t: "note"; readonly id: string; readonly g: string; readonly detail: JsonObject };
export type EndRecord = { readonly t: "end"; readonly id: string; readonly g: string; readonly outcome: JsonObject };
export type ResolveRecord = { readonly t: "resolve"; readonly id: string; readonly resolution: JsonObject };
export type ReleaseRecord = { readonly t: "release" };

export type SnapshotRecord = OpenRecord | RequestRecord | QuarantineRecord | SealRecord;
export type LiveRecord = BeginRecord | NoteRecord | EndRecord | RequestRecord | ResolveRecord | ReleaseRecord;

type Fields = Readonly<Record<string, unknown>>;

/** The head in a checked line, `null` when it is not one. Only `v` is looked at first: a later version may differ in the rest. */
export function parseHead(line: Fields): Head | { readonly v: number; readonly unsupported: true } | null {
  const { t, v, n, e, cap, owner } = line;
  if (t !== "head" || !isCount(v)) return null;
  if (v > FORMAT_VERSION) return { v, unsupported: true };
  if (!isCount(n) || !isCount(cap) || !isText(e) || !/^[0-9a-f]{8}$/.test(e) || !isRecord(owner)) return null;
  const { generation, identity } = owner;
  if (v !== FORMAT_VERSION || !isText(generation) || !isObject(identity)) return null;
  return { t, v, n, e, cap, owner: { generation, identity } };
}

/** The record in a checked line; `null` when its type is unknown or a field is missing or wrong. */
export function parseRecord(line: Fields): SnapshotRecord | LiveRecord | null {
  const type = line["t"];
  return isRecordType(type) ? parsers[type](line) : null;
}

function isRecordType(type: unknown): type is keyof typeof parsers {
  return typeof type === "string" && Object.hasOwn(parsers, type);
}

const parsers = {
  open: (line: Fields): OpenRecord | null => {
    const { op, notes, o, req } = line;
    if (!isOperation(op) || !Array.isArray(notes) || !notes.every(isObject) || !isCount(o)) return null;
    return req === null || isText(req) ? { t: "open", op, notes, o, req } : null;
  },
  request: (line: Fields): RequestRecord | null => {
    const { id, hash, outcome, at } = line;
    if (!isText(id) || !isText(hash) || !isTime(at)) return null;
    return outcome === null || isObject(outcome) ? { t: "request", id, hash, outcome, at } : null;
  },
  quarantine: (line: Fields): QuarantineRecord | null => {
    const { id, evidence, sha256, why, reason, at } = line;
    if (!isText(id) || !isText(reason) || !isTime(at) || !isDamage(why)) return null;
    if (!(evidence === null || isText(evidence)) || !(sha256 === null || isText(sha256))) return null;
    return { t: "quarantine", id, evidence, sha256, why, reason, at };
  },
  seal: (line: Fields): SealRecord | null => {
    const { count, next } = line;
    return isCount(count) && isCount(next) ? { t: "seal", count, next } : null;
  },
  begin: (line: Fields): BeginRecord | null => {
    const { ops, req } = line;
    if (!Array.isArray(ops) || ops.length === 0 || !ops.every(isOperation)) return null;
    if (req === null) return { t: "begin", ops, req };
    if (!isRecord(req)) return null;
    const { id, hash, at } = req;
    return isText(id) && isText(hash) && isTime(at) ? { t: "begin", ops, req: { id, hash, at } } : null;
  },
  note: (line: Fields): NoteRecord | null => {
    const { id, g, detail } = line;
    return isText(id) && isText(g) && isObject(detail) ? { t: "note", id, g, detail } : null;
  },
  end: (line: Fields): EndRecord | null => {
    const { id, g, outcome } = line;
    return isText(id) && isText(g) && isObject(outcome) ? { t: "end", id, g, outcome } : null;
  },
  resolve: (line: Fields): ResolveRecord | null => {
    const { id, resolution } = line;
    return isText(id) && isObject(resolution) ? { t: "resolve", id, resolution } : null;
  },
  release: (): ReleaseRecord => ({ t: "release" }),
};

function isOperation(value: unknown): value is StoredOperation {
  if (!isRecord(value)) return false;
  const { id, g, k, detail } = value;
  return isText(id) && isText(g) && isText(k) && isObject(detail);
}

function isDamage(value: unknown): value is Quarantine["why"] {
  return value === "corrupt" || value === "oversize" || value === "missing";
}

/** What JSON.parse made is a `JsonObject` once it is an object. */
function isObject(value: unknown): value is JsonObject {
  return isRecord(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Finite, or JSON would have no text for it. */
function isTime(value: unknown): value is number {
  return Number.isFinite(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
