import { OWNER_FILE, ownerRecordSchema } from "@holdfast/client/protocol";
import type { OwnerRecord } from "@holdfast/client/protocol";
import { readPatiently } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { errnoOf } from "@holdfast/shared-process";

export const ownerFolder = (home: string): string => `${home}/owner`;
const MAX_RECORD_BYTES = 64 * 1024;

export type TopOwner =
  | { readonly kind: "none" }
  | { readonly kind: "found"; readonly epoch: number; readonly record: OwnerRecord }
  /** The name counts although the content does not: a damaged record never lowers the epoch (I165). */
  | { readonly kind: "unreadable"; readonly epoch: number }
  /** The disk does not say what it holds: it may name an owner that lives, on another machine even (I100, I163). */
  | { readonly kind: "refused"; readonly epoch: number; readonly errno: string };

export const ownerPath = (home: string, epoch: number): string => `${ownerFolder(home)}/${epoch}.json`;

/** All epochs that have a name, highest first. */
export function epochsOf(fs: FileSystem, home: string): number[] {
  let names: string[];
  try {
    names = fs.readdir(ownerFolder(home));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
  return names
    .map((name) => Number(OWNER_FILE.exec(name)?.[1] ?? 0))
    .filter((epoch) => epoch > 0)
    .toSorted((one, other) => other - one);
}

export function readOwner(fs: FileSystem, home: string, epoch: number): OwnerRecord | null {
  const read = lookAt(fs, home, epoch);
  return read.kind === "found" ? read.record : null;
}

/** Something else has the name: a directory, a link. */
const noFile: ReadonlySet<string> = new Set(["EISDIR", "EINVAL", "ELOOP"]);

type Look =
  | { readonly kind: "found"; readonly record: OwnerRecord }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable" }
  | Refused;
interface Refused {
  readonly kind: "refused";
  readonly errno: string;
}

function lookAt(fs: FileSystem, home: string, epoch: number): Look {
  const read = readPatiently(fs, ownerPath(home, epoch), MAX_RECORD_BYTES);
  if (read.kind === "missing") return read;
  if (read.kind === "unreadable" && !noFile.has(read.errno)) return { kind: "refused", errno: read.errno };
  if (read.kind !== "read") return { kind: "unreadable" };
  try {
    const parsed = ownerRecordSchema.safeParse(JSON.parse(Buffer.from(read.bytes).toString("utf8")));
    return parsed.success && parsed.data.epoch === epoch
      ? { kind: "found", record: parsed.data }
      : { kind: "unreadable" };
  } catch {
    // Not JSON: the caller treats it as unreadable, whatever is wrong with it.
    return { kind: "unreadable" };
  }
}

export function topOwner(fs: FileSystem, home: string): TopOwner {
  for (;;) {
    const [epoch] = epochsOf(fs, home);
    if (epoch === undefined) return { kind: "none" };
    const look = lookAt(fs, home, epoch);
    // Swept since the list was made, by one with a higher epoch.
    if (look.kind !== "missing") return { ...look, epoch };
  }
}
