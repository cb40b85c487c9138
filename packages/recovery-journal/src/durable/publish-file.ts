import { errnoOf } from "@holdfast/shared-process";
import { dirname } from "node:path";
import type { FileSystem } from "../file-system.ts";
import { outcomeError } from "./outcome.ts";
import { syncDirectory } from "./sync-directory.ts";
import { discardTemporary, PRIVATE_FILE_MODE, writeTemporary } from "./temporary-file.ts";

export type PublishResult = { readonly kind: "published" } | { readonly kind: "exists" };

/**
 * Publishes a complete file under a name that nobody has yet. `link` never clobbers, so of several publishers one wins; the
 * others get `exists`. Throws `CodedError`, the error of the step that failed as its cause: `not_published`, for certain,
 * `published_not_durable` (the file is there; a power cut may take it away) or `maybe_published` (the disk does not say).
 */
export function publishFile(fs: FileSystem, path: string, bytes: Uint8Array | string): PublishResult {
  const content = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  try {
    const temporary = writeTemporary(fs, path, { bytes: content, mode: PRIVATE_FILE_MODE });
    if (!linkTemporary(fs, temporary, path)) return { kind: "exists" };
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

function linkTemporary(fs: FileSystem, temporary: string, path: string): boolean {
  let linked: boolean;
  try {
    linked = linkOnce(fs, temporary, path);
  } catch (error) {
    // With the temporary name a link that is still on its way would yet be made; had it gone, nothing told whose the file is.
    throw discardTemporary(fs, temporary) === "removed" ? error : outcomeError("maybe_published", path, error);
  }
  discardTemporary(fs, temporary);
  return linked;
}

/**
 * Gives a file a second name. False: another file has that name. An error of `link` that does not say what happened (a lost
 * reply) is settled by comparing inodes. Throws when it did not get it for another reason, or `CodedError("maybe_published")`.
 */
export function linkOnce(fs: FileSystem, source: string, target: string): boolean {
  try {
    fs.link(source, target);
    return true;
  } catch (error) {
    const same = isSameFile(fs, source, target);
    if (same === true) return true;
    if (same === null) throw outcomeError("maybe_published", target, error);
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** `null`: that cannot be told. */
function isSameFile(fs: FileSystem, source: string, target: string): boolean | null {
  try {
    const [mine, found] = [fs.lstat(source), fs.lstat(target)];
    return mine.ino === found.ino && mine.dev === found.dev;
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? false : null;
  }
}
