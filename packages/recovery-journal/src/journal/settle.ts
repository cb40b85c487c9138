/** What one look at files found that somebody may be writing meanwhile. */
export interface Look<T> {
  readonly found: T;
  /** No write that is under way can make it look so. */
  readonly isSure: boolean;
  /** What it was found in: names, contents. */
  readonly seen: readonly Uint8Array[];
}

/** More in a row that differ are not to be expected of any writer. */
const LOOKS_MAX = 16;

/**
 * Looks until what is found is sure, or two looks in a row saw the very same: neither a list of names nor the read of a file is
 * one step, and what a writer was in the middle of is no damage. `retired`: what was listed is gone. `null`: it changes too fast.
 */
export function settle<T>(look: () => Look<T> | "retired"): T | null {
  let before: Look<T> | null = null;
  for (let count = 1; count <= LOOKS_MAX; count += 1) {
    const now = look();
    if (now !== "retired" && (now.isSure || (before !== null && isSame(before.seen, now.seen)))) return now.found;
    before = now === "retired" ? null : now;
  }
  return null;
}

function isSame(before: readonly Uint8Array[], now: readonly Uint8Array[]): boolean {
  return (
    before.length === now.length &&
    before.every((bytes, index) => Buffer.compare(bytes, now[index] ?? new Uint8Array()) === 0)
  );
}
