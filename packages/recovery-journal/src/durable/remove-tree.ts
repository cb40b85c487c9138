import { errnoOf } from "@holdfast/shared-process";
import type { FileSystem } from "../file-system.ts";

/** Removes a directory with all that is in it, links as links; that it is gone already is fine. */
export function removeTree(fs: FileSystem, path: string): void {
  try {
    for (const name of fs.readdir(path)) {
      const child = `${path}/${name}`;
      if (fs.lstat(child).isDirectory()) removeTree(fs, child);
      else fs.unlink(child);
    }
    fs.rmdir(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}
