import { canonicalPath } from "./canonical.ts";
import { type DirectoryIdentity, identityFromJson, type DirectoryIdentityJson } from "./identity.ts";
import { ownData, ownList, shown } from "./own-data.ts";
import { pathDetail } from "./reasons.ts";

/** Each costs a descriptor while it is bound. Where a process may have fewer, the rest is denied for the moment. */
export const MAX_ENTRIES = 1024;
const MAX_REVISION_LENGTH = 128;

/** A directory that is trusted. */
export interface PolicyEntry {
  readonly directory: string;
  /** Changes each time that somebody trusts the directory again: what was bound under an earlier one is refused. */
  readonly revision: string;
  /** What the directory was when it was trusted. Without it, what it is when the policy is given. */
  readonly identity?: DirectoryIdentityJson;
}

/** An entry as it was read; the revision is `null` where only a path was given. */
export interface ReadEntry {
  readonly directory: string;
  readonly revision: string | null;
  readonly identity: DirectoryIdentity | null;
}

/** Which entry is wrong (`null`: the list itself), what stands there, and why it is refused. */
export interface PolicyFault {
  readonly index: number | null;
  readonly value: string;
  readonly why: string;
}

export type ReadPolicy =
  | { readonly kind: "policy"; readonly entries: readonly ReadEntry[] }
  | { readonly kind: "malformed"; readonly fault: PolicyFault };

/** Reads a policy whole or not at all; what is returned shares nothing with what was given. */
export function readPolicy(policy: unknown): ReadPolicy {
  const list = ownList(policy, MAX_ENTRIES);
  if (list.kind === "refused") return malformed(list.index, policy, list.why);
  const entries: ReadEntry[] = [];
  const places = new Map<string, number>();
  for (const [index, item] of list.items.entries()) {
    const entry = typeof item === "string" ? entryOf({ directory: item }, "a path") : readEntry(item);
    if (typeof entry === "string") return malformed(index, item, entry);
    const earlier = places.get(entry.directory);
    if (earlier !== undefined) return malformed(index, entry.directory, `it is there already, as entry ${earlier}`);
    places.set(entry.directory, index);
    entries.push(entry);
  }
  return { kind: "policy", entries };
}

const malformed = (index: number | null, value: unknown, why: string): ReadPolicy => ({
  kind: "malformed",
  fault: Object.freeze({ index, value: shown(value), why }),
});

/** The entry, or why it is none. */
function readEntry(item: unknown): ReadEntry | string {
  const data = ownData(item, ["directory", "revision", "identity"]);
  return data.kind === "refused" ? data.why : entryOf(data.values, "an entry");
}

function entryOf(
  values: { readonly directory: unknown; readonly revision?: unknown; readonly identity?: unknown },
  form: "a path" | "an entry",
): ReadEntry | string {
  const path = canonicalPath(values.directory);
  if (path.kind === "refused") return `${path.reason}: ${pathDetail(path.reason)} (${shown(values.directory)})`;
  const { revision } = values;
  if (form === "a path") return { directory: path.path, revision: null, identity: null };
  if (typeof revision !== "string" || revision === "" || revision.length > MAX_REVISION_LENGTH) {
    return `its revision is no text of 1 to ${MAX_REVISION_LENGTH} characters`;
  }
  if (values.identity === undefined) return { directory: path.path, revision, identity: null };
  const identity = identityFromJson(values.identity);
  if (identity === null) return "its identity is none";
  if (identity.directory !== path.path) return "its identity is another directory's";
  return { directory: path.path, revision, identity };
}
