import { errnoOf } from "@holdfast/shared-process";
import { dirname } from "node:path";
import type { FileSystem } from "../file-system.ts";
import { syncDirectory } from "./sync-directory.ts";
import { discardTemporary, PRIVATE_FILE_MODE, writeTemporary } from "./temporary-file.ts";

export type PublishResult = { readonly kind: "published" } | { readonly kind: "exists" };

/**
 * Publishes a complete file under a name that nobody has yet. `link` never clobbers, so of several publishers one wins; the
 * others get `exists`. An error of `link` that does not say what happened (a lost reply) is settled by comparing inodes.
 */
export function publishFile(fs: FileSystem, path: string, bytes: Uint8Array | string): PublishResult {
  const content = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  const temporary = writeTemporary(fs, path, { bytes: content, mode: PRIVATE_FILE_MODE });
  try {
    fs.link(temporary, path);
  } catch (error) {
    const ours = isSameFile(fs, temporary, path);
    if (!ours) {
      discardTemporary(fs, temporary);
      if (errnoOf(error) === "EEXIST") return { kind: "exists" };
      throw error;
    }
  }
  discardTemporary(fs, temporary);
  syncDirectory(fs, dirname(path));
  return { kind: "published" };
}

function isSameFile(fs: FileSystem, temporary: string, path: string): boolean {
  try {
    const [mine, found] = [fs.lstat(temporary), fs.lstat(path)];
    return mine.ino === found.ino && mine.dev === found.dev;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}
