import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { OWNER_FILE, ownerRecordSchema } from "./protocol/index.ts";
import type { OwnerRecord } from "./protocol/index.ts";

export type FoundOwner =
  | { readonly kind: "found"; readonly record: OwnerRecord }
  | { readonly kind: "none" }
  /** Records are there and none can be read: it says nothing about whether a daemon runs. */
  | { readonly kind: "unreadable"; readonly path: string; readonly message: string };

type ReadRecord =
  | { readonly kind: "read"; readonly record: OwnerRecord }
  | { readonly kind: "vanished" }
  | { readonly kind: "invalid"; readonly message: string };

/** The highest valid `<home>/owner/<epoch>.json`: through it clients find the socket, not through their own environment. */
export function findOwner(home: string): FoundOwner {
  const directory = join(home, "owner");
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return { kind: "none" };
    return { kind: "unreadable", path: directory, message: text(error) };
  }
  let unreadable: FoundOwner = { kind: "none" };
  for (const epoch of epochsDescending(names)) {
    const path = join(directory, `${epoch}.json`);
    const read = readRecord(path, epoch);
    if (read.kind === "read") return { kind: "found", record: read.record };
    if (read.kind === "invalid" && unreadable.kind === "none")
      unreadable = { kind: "unreadable", path, message: read.message };
  }
  return unreadable;
}

function epochsDescending(names: readonly string[]): number[] {
  return names
    .flatMap((name) => {
      const epoch = OWNER_FILE.exec(name)?.[1];
      return epoch === undefined ? [] : [Number(epoch)];
    })
    .toSorted((a, b) => b - a);
}

function readRecord(path: string, epoch: number): ReadRecord {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    // A newer owner removes older records: the next name is looked at instead.
    return isMissing(error) ? { kind: "vanished" } : { kind: "invalid", message: text(error) };
  }
  const parsed = ownerRecordSchema.safeParse(value);
  if (!parsed.success) return { kind: "invalid", message: "not an owner record" };
  if (parsed.data.epoch !== epoch) return { kind: "invalid", message: `names epoch ${parsed.data.epoch}` };
  return { kind: "read", record: parsed.data };
}

/** A copied home carries the record of the original: its daemon must not be taken for the copy's (I147). */
export function namesThisHome(record: OwnerRecord, home: string): boolean {
  if (record.home === home) return true;
  try {
    const [named, ours] = [statSync(record.home, { bigint: true }), statSync(home, { bigint: true })];
    return named.dev === ours.dev && named.ino === ours.ino;
  } catch {
    // The named directory is not there, so it is not this one.
    return false;
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";
const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));
