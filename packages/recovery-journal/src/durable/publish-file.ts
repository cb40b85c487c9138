import { errnoOf } from "@holdfast/shared-process";
import { dirname } from "node:path";
import type { FileSystem } from "../file-system.ts";
import { outcomeError } from "./outcome.ts";
import { syncDirectory } from "./sync-directory.ts";
import { discardTemporary, PRIVATE_FILE_MODE, writeTemporary } from "./temporary-file.ts";

export type PublishResult = { readonly kind: "published" } | { readonly kind: "exists" };

/**
 * Publishes a complete file under a name that nobody has yet. `link` never clobbers, so of several publishers one wins; the
 * others get `exists`. An error of `link` that does not say what happened (a lost reply) is settled by comparing inodes.
 * Throws `CodedError`, the system error as its cause: `not_published`, for certain, or `published_not_durable` (the file is
 * there; a power cut may take it away).
 */
export function publishFile(fs: FileSystem, path: string, bytes: Uint8Array | string): PublishResult {
  const content = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  try {
    const temporary = writeTemporary(fs, path, { bytes: content, mode: PRIVATE_FILE_MODE });
    try {
      if (!linkOnce(fs, temporary, path)) return { kind: "exists" };
    } finally {
      discardTemporary(fs, temporary);
    }
  } catch (error) {
    throw outcomeError("not_published", path, error);
  }
  try {
    syncDirectory(fs, dirname(path));
  } catch (error) {
    throw outcomeError("published_not_durable", path, error);
  }
  return { kind: "published" };
}

/** Gives a file a second name. False: another file has that name. Throws when it did not get it for another reason. */
export function linkOnce(fs: FileSystem, source: string, target: string): boolean {
  try {
    fs.link(source, target);
    return true;
  } catch (error) {
    if (isSameFile(fs, source, target)) return true;
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

function isSameFile(fs: FileSystem, source: string, target: string): boolean {
  try {
    const [mine, found] = [fs.lstat(source), fs.lstat(target)];
    return mine.ino === found.ino && mine.dev === found.dev;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}
