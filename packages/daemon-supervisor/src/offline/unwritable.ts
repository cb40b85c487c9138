import { accessSync, constants } from "node:fs";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { CodedError, errnoOf, reasonOf, systemIds } from "@holdfast/shared-process";
import { checkSocketPaths, homeFolders, requestsFolder } from "../home.ts";
import { tryClaiming } from "../ownership/try-claiming.ts";

export interface Unwritable {
  readonly folder: string;
  readonly errno: string;
  readonly reason: string;
}

type Access = (folder: string, mode: number) => void;

/** What is not there yet is made; what is no directory is told for itself. */
const OTHERWISE = new Set(["ENOENT", "ENOTDIR"]);

/**
 * The folders of a home, itself first, in which this user can make no file. By a look alone: access(2) names a read-only file system
 * also to root.
 */
export const unwritableIn = (home: string, access: Access = accessSync): Unwritable[] =>
  [home, ...homeFolders.map((name) => `${home}/${name}`), requestsFolder(home)].flatMap((folder) => {
    try {
      access(folder, constants.W_OK | constants.X_OK);
      return [];
    } catch (error) {
      const errno = errnoOf(error) ?? "";
      return OTHERWISE.has(errno) ? [] : [{ folder, errno, reason: reasonOf(error) }];
    }
  });

/** Throws where no other daemon could follow the one that runs: it has in memory what the disk did not take, and is left alive. */
export function requireSuccessor(home: string): void {
  const [found] = unwritableIn(home);
  if (found) throw new CodedError("unwritable", found.reason);
  checkSocketPaths(home);
  tryClaiming(home, { fs: nodeFileSystem, ids: systemIds });
}
