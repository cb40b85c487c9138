import { isDiskFull, removeFile, replaceFile } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import type { Ids } from "@holdfast/shared-process";
import { ownerFolder } from "@holdfast/session-worker/transport";
import { prepareHome } from "../home.ts";
import { hasReserve } from "./reserve.ts";

/** Throws where the home would take no claim, asked before its owner is ended: nothing is left of the trial. */
export function tryClaiming(home: string, { fs, ids }: { readonly fs: FileSystem; readonly ids: Ids }): void {
  prepareHome(fs, home);
  // A name that the next owner sweeps, should this command be killed in between.
  const path = `${ownerFolder(home)}/claim.${ids.newGeneration().replaceAll("-", "").slice(0, 12)}.tmp`;
  try {
    replaceFile(fs, path, "{}\n");
    removeFile(fs, path);
  } catch (error) {
    // What was kept for that day is left for the claim itself.
    if (!isDiskFull(error) || !hasReserve(fs, home)) throw error;
  }
}
