import type { ProcessIdentity } from "@holdfast/shared-process";

/** `absent`: none was recorded. `unverifiable`: of a form that says nothing about what can be read here. */
export type StartMatch = "absent" | "equal" | "different" | "unverifiable";

/** Ticks, with the boot that they count from where it was recorded. */
const PROC = /^proc:(?:([0-9a-f-]{36}):)?(\d+)$/;

/**
 * Compares a tagged start id of an older record with what now has its number. Only ids of one format are compared (I99): `ps:` is text of
 * somebody's locale and zone, `win:` is another system's, and ticks count from another moment in another boot, which may be another
 * machine's.
 */
export function matchStartId(
  recorded: string | null,
  { startTicks, bootId }: Pick<ProcessIdentity, "startTicks" | "bootId">,
  platform: string = process.platform,
): StartMatch {
  if (recorded === null || recorded === "") return "absent";
  const [, boot, ticks] = PROC.exec(recorded) ?? [];
  if (platform !== "linux" || ticks === undefined || startTicks === null) return "unverifiable";
  if (boot !== undefined && boot !== bootId) return "unverifiable";
  return ticks === startTicks ? "equal" : "different";
}
