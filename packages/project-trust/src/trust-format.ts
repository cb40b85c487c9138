import { reasonOf } from "@holdfast/shared-process";
import { PATH_LIMIT_BYTES } from "./canonical.ts";
import { type DirectoryIdentityJson, identityFromData, identityToJson } from "./identity.ts";
import { ownData, ownList, shown } from "./own-data.ts";
import { MAX_ENTRIES } from "./policy.ts";

/**
 * `<home>/trust.json`, version 1: `{ "schemaVersion": 1, "directories": [ … ] }`, UTF-8. Numbers of 64 bits are strings
 * of decimal digits. Keys that are not listed here, versions that are not 1 and a directory that is there twice make it
 * malformed.
 */
export interface TrustedDirectory extends DirectoryIdentityJson {
  /** A UUID, another one each time that the directory is trusted. */
  readonly revision: string;
  /** ISO 8601, UTC, with milliseconds. */
  readonly addedAt: string;
  /** The spelling that a person gave, where it was another one: up to 4,096 characters, for show. */
  readonly via?: string;
}

type ReadText =
  | { readonly kind: "policy"; readonly directories: readonly TrustedDirectory[] }
  | { readonly kind: "malformed"; readonly entry: number | null; readonly why: string };

const malformed = (entry: number | null, why: string): ReadText => ({ kind: "malformed", entry, why });

/** Reads the bytes of a policy whole or not at all. */
export function readTrustText(bytes: Uint8Array): ReadText {
  const parsed = parsedFrom(bytes);
  if (parsed.kind === "refused") return malformed(null, parsed.why);
  const file = ownData(parsed.value, ["schemaVersion", "directories"]);
  if (file.kind === "refused") return malformed(null, file.why);
  const { schemaVersion, directories } = file.values;
  if (schemaVersion !== 1) return malformed(null, `its schemaVersion is ${shown(schemaVersion)}, and 1 is known`);
  const list = ownList(directories, MAX_ENTRIES);
  if (list.kind === "refused") return malformed(list.index, `directories: ${list.why}`);
  return readList(list.items);
}

function readList(items: readonly unknown[]): ReadText {
  const directories: TrustedDirectory[] = [];
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const entry = readEntry(item);
    if (typeof entry === "string") return malformed(index, entry);
    if (seen.has(entry.directory)) return malformed(index, `${shown(entry.directory)} is there already`);
    seen.add(entry.directory);
    directories.push(entry);
  }
  return { kind: "policy", directories };
}

function parsedFrom(bytes: Uint8Array): { kind: "parsed"; value: unknown } | { kind: "refused"; why: string } {
  try {
    // Bytes that are no UTF-8 would be read as other ones than are there.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { kind: "parsed", value: JSON.parse(text) };
  } catch (error) {
    return { kind: "refused", why: `it is no JSON: ${reasonOf(error)}` };
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The entry, or why it is none. */
function readEntry(item: unknown): TrustedDirectory | string {
  const data = ownData(item, ["directory", "device", "inode", "birthTimeNs", "revision", "addedAt", "via"]);
  if (data.kind === "refused") return data.why;
  const { revision, addedAt, via } = data.values;
  const identity = identityFromData(data.values);
  if (identity === null) return `it does not say which directory it is (${shown(data.values.directory)})`;
  if (typeof revision !== "string" || !UUID.test(revision)) return "its revision is no UUID";
  if (typeof addedAt !== "string" || !isMoment(addedAt)) return "its addedAt is no moment";
  const known = { ...identityToJson(identity), revision, addedAt };
  if (via === undefined) return known;
  return typeof via === "string" && via.length <= PATH_LIMIT_BYTES ? { ...known, via } : "its via is no short text";
}

function isMoment(text: string): boolean {
  const ms = Date.parse(text);
  return Number.isFinite(ms) && new Date(ms).toISOString() === text;
}
