import { CodedError } from "@holdfast/shared-process";
import { dirname, resolve } from "node:path";
import type { FileSystem } from "../file-system.ts";
import { outcomeError } from "./outcome.ts";
import { readBounded } from "./small-files.ts";
import { syncDirectory, syncDirectoryAsync } from "./sync-directory.ts";
import { discardTemporary, PRIVATE_FILE_MODE, writeTemporary, writeTemporaryAsync } from "./temporary-file.ts";

/**
 * Replaces a file whole (I69, I109): after a crash the old bytes or the new ones are there, never a mixture. Mode 0600 unless
 * given. A link at `path` is replaced itself; a directory that is a link is refused. Throws `CodedError`, the error of the
 * step that failed as its cause: `not_replaced` (the old bytes are in place, for certain), `replaced_not_durable` (the new
 * bytes are in place, and a power cut may bring the old ones back) or `maybe_replaced` (the disk does not say which are). The
 * same call again makes them durable, or says again that they are not. A temporary file that cannot be removed stays.
 */
export function replaceFile(
  fs: FileSystem,
  path: string,
  bytes: Uint8Array | string,
  options: { readonly mode?: number } = {},
): void {
  const content = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  try {
    refuseLinkedDirectory(fs, path);
    const temporary = writeTemporary(fs, path, { bytes: content, mode: options.mode ?? PRIVATE_FILE_MODE });
    moveInto(fs, path, { temporary, content });
  } catch (error) {
    throw outcomeError("not_replaced", path, error);
  }
  try {
    syncDirectory(fs, dirname(path));
  } catch (error) {
    throw outcomeError("replaced_not_durable", path, error);
  }
}

/**
 * `replaceFile` for a program whose loop must not stand still while the disk does (I169): the same steps in the same order,
 * with both flushes off the loop. Replacements of one path must not overlap; the caller keeps them in order.
 */
export async function replaceFileAsync(fs: FileSystem, path: string, bytes: Uint8Array | string): Promise<void> {
  const content = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  try {
    refuseLinkedDirectory(fs, path);
    const temporary = await writeTemporaryAsync(fs, path, { bytes: content, mode: PRIVATE_FILE_MODE });
    moveInto(fs, path, { temporary, content });
  } catch (error) {
    throw outcomeError("not_replaced", path, error);
  }
  try {
    await syncDirectoryAsync(fs, dirname(path));
  } catch (error) {
    throw outcomeError("replaced_not_durable", path, error);
  }
}

/** Whoever put a link in the directory's place would choose where the bytes go. */
function refuseLinkedDirectory(fs: FileSystem, path: string): void {
  const directory = dirname(path);
  if (!fs.lstat(resolve(directory)).isSymbolicLink()) return;
  throw new CodedError("unsafe_directory", `${directory} is a symbolic link`, { data: { path: directory } });
}

/** An error of `rename` that does not say what happened (a lost reply) is settled by what is found then. */
function moveInto(fs: FileSystem, path: string, from: { temporary: string; content: Uint8Array }): void {
  const { temporary, content } = from;
  try {
    fs.rename(temporary, path);
  } catch (error) {
    // First the temporary name, without which a rename that is still on its way does nothing. It was there: none was done.
    const removal = discardTemporary(fs, temporary);
    if (removal === "removed") throw error;
    const found = readBounded(fs, path, content.length);
    if (found.kind === "read" && found.bytes.equals(content)) return;
    if (removal === "missing" && found.kind !== "unreadable") throw error;
    throw outcomeError("maybe_replaced", path, error);
  }
}
