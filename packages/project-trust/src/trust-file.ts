import { type FileSystem, readPatiently, replaceFile, replaceFileAsync } from "@holdfast/recovery-journal";
import { CodedError } from "@holdfast/shared-process";
import { type DirectoryIdentity, identityToJson } from "./identity.ts";
import type { PolicyEntry } from "./policy.ts";
import { readTrustText, type TrustedDirectory } from "./trust-format.ts";

/** Room for as many entries as there may be, each with the longest path, and half of it again for what JSON escapes. */
export const MAX_TRUST_FILE_BYTES = 8 * 1024 * 1024;

export type TrustFile =
  | { readonly kind: "absent" }
  | { readonly kind: "policy"; readonly directories: readonly TrustedDirectory[] }
  /** `entry`: which one; `null` where the file as a whole is none. */
  | { readonly kind: "malformed"; readonly entry: number | null; readonly why: string }
  | { readonly kind: "unreadable"; readonly errno: string };

/**
 * Reads the durable policy, never through a link. A malformed one is refused whole: trust nothing by it, and say why.
 */
export function readTrustFile(fs: FileSystem, path: string): TrustFile {
  const read = readPatiently(fs, path, MAX_TRUST_FILE_BYTES);
  if (read.kind === "missing") return { kind: "absent" };
  if (read.kind === "unreadable") return read;
  if (read.kind === "oversize") {
    return { kind: "malformed", entry: null, why: `it has more than ${MAX_TRUST_FILE_BYTES} bytes` };
  }
  return readTrustText(read.bytes);
}

/**
 * Replaces the durable policy whole, mode 0600. Throws a `CodedError`: `malformed_policy` when it could not be read
 * back (nothing was written then), else what `replaceFile` of recovery-journal throws.
 */
export function writeTrustFile(fs: FileSystem, path: string, directories: readonly TrustedDirectory[]): void {
  replaceFile(fs, path, trustBytes(path, directories));
}

/** The same for a program whose loop must not stand still while the disk does (I169). One write of a path at a time. */
export async function writeTrustFileAsync(
  fs: FileSystem,
  path: string,
  directories: readonly TrustedDirectory[],
): Promise<void> {
  await replaceFileAsync(fs, path, trustBytes(path, directories));
}

function trustBytes(path: string, directories: readonly TrustedDirectory[]): Buffer {
  const bytes = Buffer.from(trustTextOf(directories));
  const back = bytes.length > MAX_TRUST_FILE_BYTES ? null : readTrustText(bytes);
  if (back?.kind === "policy") return bytes;
  const why = back === null ? `more than ${MAX_TRUST_FILE_BYTES} bytes` : back.why;
  throw new CodedError("malformed_policy", `the policy cannot be written: ${why}`, { data: { path } });
}

/** One line for each directory, so that a person can read it. */
export function trustTextOf(directories: readonly TrustedDirectory[]): string {
  const lines = directories.map(({ directory, device, inode, birthTimeNs, revision, addedAt, via }) => {
    const known = { directory, device, inode, birthTimeNs, revision, addedAt };
    return `\n    ${JSON.stringify(via === undefined ? known : { ...known, via })}`;
  });
  return `{\n  "schemaVersion": 1,\n  "directories": [${lines.join(",")}${lines.length === 0 ? "" : "\n  "}]\n}\n`;
}

/** What a person has decided to trust. */
export interface Addition {
  readonly identity: DirectoryIdentity;
  /** A new UUID each time. */
  readonly revision: string;
  /** ISO 8601, UTC. */
  readonly addedAt: string;
  /** The spelling that was asked for, where it was another one. */
  readonly via?: string;
}

/** Adding again renews: the directory as it is now, under a new revision, at its old place in the list. */
export function withAdded(directories: readonly TrustedDirectory[], added: Addition): readonly TrustedDirectory[] {
  const { identity, revision, addedAt, via } = added;
  const known = { ...identityToJson(identity), revision, addedAt };
  const entry = via === undefined ? known : { ...known, via };
  const isThere = directories.some(({ directory }) => directory === entry.directory);
  return isThere
    ? directories.map((other) => (other.directory === entry.directory ? entry : other))
    : [...directories, entry];
}

export const withRemoved = (directories: readonly TrustedDirectory[], removed: string): readonly TrustedDirectory[] =>
  directories.filter(({ directory }) => directory !== removed);

/** The policy of an authority. */
export const policyOf = (directories: readonly TrustedDirectory[]): readonly PolicyEntry[] =>
  directories.map(({ directory, device, inode, birthTimeNs, revision }) => ({
    directory,
    revision,
    identity: { directory, device, inode, birthTimeNs },
  }));
