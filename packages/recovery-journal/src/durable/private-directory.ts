import { CodedError, errnoOf } from "@holdfast/shared-process";
import { dirname, resolve } from "node:path";
import type { FileSystem } from "../file-system.ts";
import { syncDirectory, syncDirectoryAsync } from "./sync-directory.ts";

const PRIVATE_DIRECTORY_MODE = 0o700;
const OTHERS = 0o077n;

/**
 * Creates a directory of mode 0700 (missing parents too) whatever the umask, or verifies the one that is there: a directory and
 * no link, ours, without a bit for group or others. Throws `CodedError("unsafe_directory")`, data `{path}`; nothing is repaired.
 */
export function ensurePrivateDirectory(fs: FileSystem, path: string): void {
  const parents = createDirectory(fs, path);
  if (parents.length === 0) verifyDirectory(fs, path);
  for (const parent of parents) syncDirectory(fs, parent);
}

/** `ensurePrivateDirectory` for a program whose loop must not stand still while the disk does (I169). */
export async function ensurePrivateDirectoryAsync(fs: FileSystem, path: string): Promise<void> {
  const parents = createDirectory(fs, path);
  if (parents.length === 0) verifyDirectory(fs, path);
  for (const parent of parents) await syncDirectoryAsync(fs, parent);
}

function verifyDirectory(fs: FileSystem, path: string): void {
  const problem = directoryProblem(fs, path);
  if (problem !== null) throw new CodedError("unsafe_directory", problem, { data: { path } });
}

/** What makes the directory at `path` unsafe, in words; `null` when it is private and ours. Throws ENOENT. */
export function directoryProblem(fs: FileSystem, path: string): string | null {
  // With a slash behind it a link would be followed.
  const stats = fs.lstat(resolve(path));
  if (stats.isSymbolicLink()) return `${path} is a symbolic link`;
  if (!stats.isDirectory()) return `${path} is not a directory`;
  if (stats.uid !== BigInt(effectiveUser())) return `${path} belongs to another user`;
  if ((stats.mode & OTHERS) !== 0n) return `others may enter ${path}`;
  return null;
}

export function effectiveUser(): number {
  return process.geteuid?.() ?? 0;
}

/** A parent may be removed again by somebody between its making and its use, but not for ever. */
const MAX_TRIES = 3;

/** The directories that got a new name, the upper first; none when it was there already. */
function createDirectory(fs: FileSystem, path: string, tries = 0): readonly string[] {
  const parent = dirname(path);
  try {
    fs.mkdir(path, PRIVATE_DIRECTORY_MODE);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "EEXIST") return [];
    // Some file systems say so of every name, such as /proc, whose directories are made by nobody.
    if (errno !== "ENOENT" || parent === path || tries === MAX_TRIES) throw error;
    return [...createDirectory(fs, parent), ...createDirectory(fs, path, tries + 1)];
  }
  fs.chmod(path, PRIVATE_DIRECTORY_MODE);
  return [parent];
}
