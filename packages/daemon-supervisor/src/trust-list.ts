import { ProtocolError } from "@holdfast/client/protocol";
import type { TrustRow } from "@holdfast/client/protocol";
import { createProjectTrustAuthority, policyOf, readTrustFile, type TrustedDirectory } from "@holdfast/project-trust";
import type { FileSystem } from "@holdfast/recovery-journal";

/** As its file says, or why nobody can tell: `malformed` trusts nothing, `unreadable` may pass. */
export type TrustList =
  | { readonly kind: "list"; readonly directories: readonly TrustedDirectory[] }
  | { readonly kind: "malformed" | "unreadable"; readonly error: ProtocolError };

const MEND = "mend that file by hand, or move it away: then nothing is trusted";
export const TOO_MANY = "agent trust list, then agent trust remove what nobody needs";

export function readTrust(fs: FileSystem, path: string): TrustList {
  const file = readTrustFile(fs, path);
  switch (file.kind) {
    case "absent":
      return { kind: "list", directories: [] };
    case "policy":
      return { kind: "list", directories: file.directories };
    case "malformed": {
      const where = file.entry === null ? path : `${path}: directories[${file.entry}]`;
      return { kind: "malformed", error: refused(`${where}: ${file.why}`, MEND, { path, entry: file.entry }) };
    }
    case "unreadable":
      return {
        kind: "unreadable",
        error: refused(`${path} cannot be read: ${file.errno}`, "agent doctor", { path, errno: file.errno }),
      };
  }
}

const refused = (message: string, hint: string, data: Record<string, unknown>): ProtocolError =>
  new ProtocolError("invalid_config", message, { hint, data });

/** A directory of the list as it is found. */
export interface FoundDirectory extends TrustRow {
  /** Why it is not trusted now, in words; `null` where it is. */
  readonly reason: string | null;
}

/** Looks at each directory of a list; nothing is held afterwards. */
export function lookAtTrusted(directories: readonly TrustedDirectory[]): FoundDirectory[] {
  using authority = createProjectTrustAuthority({ policy: policyOf(directories) });
  const entries = new Map(authority.entries().map((entry) => [entry.directory, entry]));
  return directories.map((listed) => {
    const entry = entries.get(listed.directory);
    const state = entry?.state ?? "unreadable";
    if (state === "trusted") return { ...rowOf(listed, state), reason: null };
    const grant = authority.authorize(listed.directory);
    // Found now and not a moment ago: it was not, then.
    if (grant.kind === "granted") authority.revoke(grant.binding);
    const words = grant.kind === "denied" ? grant.detail : (entry?.reason ?? "it could not be looked at");
    return { ...rowOf(listed, state), reason: words };
  });
}

export const rowOf = ({ directory, addedAt, via }: TrustedDirectory, state: TrustRow["state"]): TrustRow => ({
  directory,
  addedAt,
  state,
  ...(via === undefined ? {} : { via }),
});
