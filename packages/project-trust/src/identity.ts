import { invariant } from "@holdfast/shared-process";
import { canonicalPath } from "./canonical.ts";
import type { Seen } from "./calls.ts";
import { ownData } from "./own-data.ts";

/** What tells a directory from any other one that is, was or will be at its path. */
export interface DirectoryIdentity {
  readonly directory: string;
  readonly device: bigint;
  readonly inode: bigint;
  /** Nanoseconds since the epoch; 0 where the file system does not record it. */
  readonly birthTimeNs: bigint;
}

/** The same for JSON: numbers as decimal digits, since they do not fit a double. */
export interface DirectoryIdentityJson {
  readonly directory: string;
  readonly device: string;
  readonly inode: string;
  readonly birthTimeNs: string;
}

export const identityOf = (directory: string, { device, inode, birthTimeNs }: Seen): DirectoryIdentity =>
  Object.freeze({ directory, device, inode, birthTimeNs });

export const identityToJson = ({
  directory,
  device,
  inode,
  birthTimeNs,
}: DirectoryIdentity): DirectoryIdentityJson => ({
  directory,
  device: String(device),
  inode: String(inode),
  birthTimeNs: String(birthTimeNs),
});

/** `null` for anything but an identity that `identityToJson` could have made. */
export function identityFromJson(value: unknown): DirectoryIdentity | null {
  const data = ownData(value, ["directory", "device", "inode", "birthTimeNs"]);
  return data.kind === "data" ? identityFromData(data.values) : null;
}

export function identityFromData(
  values: Readonly<Record<keyof DirectoryIdentityJson, unknown>>,
): DirectoryIdentity | null {
  const path = canonicalPath(values.directory);
  const [device, inode, birthTimeNs] = [number(values.device), number(values.inode), number(values.birthTimeNs)];
  if (path.kind !== "canonical" || device === null || inode === null || birthTimeNs === null) return null;
  return Object.freeze({ directory: path.path, device, inode, birthTimeNs });
}

/** What fits the kernel's 64 bits, in the one spelling that it has. */
function number(value: unknown): bigint | null {
  if (typeof value !== "string" || !/^(?:0|[1-9]\d{0,19})$/.test(value)) return null;
  const whole = BigInt(value);
  return whole < 1n << 64n ? whole : null;
}

export type Comparison = "same" | "replaced" | "unproven";

interface Facts {
  /** Path, device and inode. */
  readonly place: "same" | "other";
  readonly birth: "same" | "other" | "unrecorded";
  /**
   * Whether a descriptor was open from the moment the identity was taken: its inode number was nobody else's meanwhile.
   */
  readonly held: "held" | "not held";
}

type Row = { readonly [Fact in keyof Facts]: Facts[Fact] | "any" } & { readonly is: Comparison };

/** Exactly one row fits. `any` stands for each value. */
export const comparisons: readonly Row[] = [
  { place: "other", birth: "any", held: "any", is: "replaced" },
  { place: "same", birth: "other", held: "any", is: "replaced" },
  { place: "same", birth: "same", held: "any", is: "same" },
  { place: "same", birth: "unrecorded", held: "held", is: "same" },
  { place: "same", birth: "unrecorded", held: "not held", is: "unproven" },
];

/**
 * Whether what is found is what was recorded. Inode numbers are given again at once, so that without a birth time only
 * a descriptor held all the while proves anything.
 */
export function compareDirectories(
  recorded: DirectoryIdentity,
  found: DirectoryIdentity,
  held: Facts["held"],
): Comparison {
  const facts: Facts = { place: placeOf(recorded, found), birth: birthOf(recorded, found), held };
  const row = comparisons.find(
    (cells) => fits(cells.place, facts.place) && fits(cells.birth, facts.birth) && fits(cells.held, facts.held),
  );
  invariant(row !== undefined, "each case of a comparison has its row");
  return row.is;
}

const fits = (cell: string, fact: string): boolean => cell === "any" || cell === fact;

const placeOf = (recorded: DirectoryIdentity, found: DirectoryIdentity): Facts["place"] =>
  recorded.directory === found.directory && recorded.device === found.device && recorded.inode === found.inode
    ? "same"
    : "other";

function birthOf(recorded: DirectoryIdentity, found: DirectoryIdentity): Facts["birth"] {
  if (recorded.birthTimeNs !== found.birthTimeNs) return "other";
  return recorded.birthTimeNs === 0n ? "unrecorded" : "same";
}
