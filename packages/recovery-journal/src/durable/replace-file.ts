import { dirname } from "node:path";
import type { FileSystem } from "../file-system.ts";
import { syncDirectory } from "./sync-directory.ts";
import { discardTemporary, PRIVATE_FILE_MODE, writeTemporary } from "./temporary-file.ts";

/**
 * Replaces a file whole (I69, I109): after a crash the old bytes or the new ones are there, never a mixture. Mode 0600 unless
 * given. On failure the temporary file is removed and the original error is thrown; an error of the last directory sync
 * leaves the new bytes in place, not proven durable.
 */
export function replaceFile(
  fs: FileSystem,
  path: string,
  bytes: Uint8Array | string,
  options: { readonly mode?: number } = {},
): void {
  const content = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  const temporary = writeTemporary(fs, path, { bytes: content, mode: options.mode ?? PRIVATE_FILE_MODE });
  try {
    fs.rename(temporary, path);
  } catch (error) {
    discardTemporary(fs, temporary);
    throw error;
  }
  syncDirectory(fs, dirname(path));
}
