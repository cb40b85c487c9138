import { removeFile } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { errnoOf } from "@holdfast/shared-process";

const TEMPORARY = /\.[0-9a-f]{12}\.tmp$/;

/**
 * Removes what a write that was cut off left in a folder: a partial copy that nobody reads (I124). Only the owner of the home writes
 * here. Gives the error of a folder that could not be swept: its trouble must not keep the home from its owner (I142).
 */
export function sweepTemporary(fs: FileSystem, folder: string): unknown {
  try {
    for (const name of fs.readdir(folder)) if (TEMPORARY.test(name)) removeFile(fs, `${folder}/${name}`);
    return null;
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? null : error;
  }
}
