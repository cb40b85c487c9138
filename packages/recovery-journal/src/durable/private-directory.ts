import { CodedError, errnoOf } from "@holdfast/shared-process";
import { dirname } from "node:path";
import type { FileSystem } from "../file-system.ts";
import { syncDirectory } from "./sync-directory.ts";

export const PRIVATE_DIRECTORY_MODE = 0o700;
const OTHERS = 0o077n;

/**
 * Creates a directory of mode 0700 (missing parents too) whatever the umask, or verifies the one that is there: a directory and
 * no link, ours, without a bit for group or others. Throws `CodedError("unsafe_directory")`, data `{path}`; nothing is repaired.
 */
export function ensurePrivateDirectory(fs: FileSystem, path: string): void {
  if (createDirectory(fs, path)) return;
  const problem = directoryProblem(fs, path);
  if (problem !== null) throw new CodedError("unsafe_directory", problem, { data: { path } });
}

/** What makes the directory at `path` unsafe, in words; `null` when it is private and ours. Throws ENOENT. */
export function directoryProblem(fs: FileSystem, path: string): string | null {
  const stats = fs.lstat(path);
  if (!stats.isDirectory()) return `${path} is not a directory`;
  if (stats.uid !== BigInt(effectiveUser())) return `${path} belongs to another user`;
  if ((stats.mode & OTHERS) !== 0n) return `others may enter ${path}: run chmod 700 ${path}`;
  return null;
}

export function effectiveUser(): number {
  return process.geteuid?.() ?? 0;
}

/** `false` when it was there already. */
function createDirectory(fs: FileSystem, path: string): boolean {
  try {
    fs.mkdir(path, PRIVATE_DIRECTORY_MODE);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "EEXIST") return false;
    if (errno !== "ENOENT" || dirname(path) === path) throw error;
    createDirectory(fs, dirname(path));
    return createDirectory(fs, path);
  }
  fs.chmod(path, PRIVATE_DIRECTORY_MODE);
  syncDirectory(fs, dirname(path));
  return true;
}
