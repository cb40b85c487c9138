import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { dirname } from "node:path";
import type { FileSystem } from "../file-system.ts";
import { createExclusive, discardTemporary } from "./temporary-file.ts";
import { writeAll } from "./write-all.ts";

/**
 * `replaceFile` for a program whose loop must not stand still while the disk does (I169): the same steps in the same order, with both
 * flushes off the loop. Replacements of one path must not overlap; the caller keeps them in order.
 */
export async function replaceFileAsync(fs: FileSystem, path: string, bytes: Uint8Array | string): Promise<void> {
  const content = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const fd = createExclusive(fs, temporary);
    try {
      writeAll(fs, fd, content, 0);
      await fs.fsyncAsync(fd);
    } finally {
      fs.close(fd);
    }
    fs.rename(temporary, path);
  } catch (error) {
    discardTemporary(fs, temporary);
    throw error;
  }
  await syncDirectoryAsync(fs, dirname(path));
}

/** Opened anew for each sync: an old descriptor can report success for a rename that is lost (JOURNAL.md §0). */
export async function syncDirectoryAsync(fs: FileSystem, path: string): Promise<void> {
  const fd = fs.open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await fs.fsyncAsync(fd);
  } finally {
    fs.close(fd);
  }
}
