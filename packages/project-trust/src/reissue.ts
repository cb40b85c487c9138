import type { Entry } from "./entry.ts";
import { compareDirectories, type DirectoryIdentity, identityFromData } from "./identity.ts";
import { ownData } from "./own-data.ts";
import { type Denied, denied } from "./reasons.ts";

/** Whether what a record says of a directory is what a listed one was trusted as. Looks at no file. */
export function judgeReissue(
  value: unknown,
  entries: ReadonlyMap<string, Entry>,
): Denied | { readonly kind: "fits"; readonly entry: Entry } {
  const data = ownData(value, ["directory", "device", "inode", "birthTimeNs", "revision"]);
  if (data.kind === "refused") return denied("malformed_identity", data.why);
  const identity = identityFromData(data.values);
  if (identity === null) return denied("malformed_identity", "it does not say which directory it was");
  const entry = entries.get(identity.directory);
  if (entry === undefined) return denied("not_listed", `${identity.directory} is not a trusted directory`);
  if (data.values.revision !== entry.revision) {
    return denied("other_revision", `${identity.directory} was trusted again, or never under this revision`);
  }
  return judgeIdentity(identity, entry);
}

function judgeIdentity(identity: DirectoryIdentity, entry: Entry): ReturnType<typeof judgeReissue> {
  const { trusted, directory } = entry;
  if (trusted.kind === "denied") return trusted;
  const held = entry.granted && entry.pin !== null ? "held" : "not held";
  const verdict = compareDirectories(identity, trusted.identity, held);
  if (verdict === "same") return { kind: "fits", entry };
  return verdict === "replaced"
    ? denied("replaced", `${directory} is another directory than the one that was bound`)
    : denied(
        "unproven",
        `${directory}: its file system records no birth times, and it was not held since it was bound`,
      );
}
