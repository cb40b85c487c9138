import type { DirectoryCalls, Seen } from "./calls.ts";
import { below, pathOf } from "./descriptors.ts";
import { errnoOf } from "@holdfast/shared-process";

export type Spelling = "exact" | "alias";

/**
 * Whether a name reaches a directory by its one spelling. On disks that fold case, normal forms or short names others
 * reach it, too, and a policy that compares strings would take them for other directories. Throws the system's error
 * where it cannot be told.
 */
export function spellingOf(
  calls: DirectoryCalls,
  parent: number,
  step: { readonly name: string; readonly seen: Seen },
): Spelling {
  const { name } = step;
  const swapped = caseSwapped(name);
  const other = swapped === name ? null : calls.lstat(below(parent, swapped));
  // Where the other case finds nothing, case counts; and ASCII has no normal forms. This spares most long listings.
  if (other === null && swapped !== name && isAscii(name)) return "exact";
  try {
    return isListed(calls, parent, name) ? "exact" : "alias";
  } catch (error) {
    if (errnoOf(error) !== "EACCES") throw error;
    // A parent that may be entered and not listed: what is left is to ask for the other case.
    return other !== null && isSame(other, step.seen) ? "alias" : "exact";
  }
}

/** Byte for byte, as the disk keeps it. */
function isListed(calls: DirectoryCalls, parent: number, name: string): boolean {
  const bytes = Buffer.from(name).toString("latin1");
  for (const listed of calls.names(pathOf(parent))) if (listed === bytes) return true;
  return false;
}

export function caseSwapped(name: string): string {
  return Array.from(name, (letter) => {
    const upper = letter.toUpperCase();
    return letter === upper ? letter.toLowerCase() : upper;
  }).join("");
}

const isAscii = (name: string): boolean => !/[^\0-\x7f]/.test(name);

const isSame = (one: Seen, other: Seen): boolean => one.device === other.device && one.inode === other.inode;
