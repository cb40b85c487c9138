import type { FileSystem } from "@holdfast/recovery-journal";

const COPY = /^session\.json\.[0-9a-f]{12}\.tmp$/;

/** Whether a directory is what a creation left that was cut off before its record had a name: nobody was told of that session. */
export function isUnmade(fs: FileSystem, directory: string): boolean {
  try {
    if (fs.exists(`${directory}/session.json`)) return false;
    return fs.readdir(directory).every((name) => COPY.test(name));
  } catch {
    // Not a directory, or one that cannot be read: it is shown as what it is.
    return false;
  }
}

/** Removes what such a creation left. Only the owner of the home may: another one may be making them. What stays is shown to nobody. */
export function discardUnmade(fs: FileSystem, directory: string): void {
  try {
    for (const copy of fs.readdir(directory)) fs.unlink(`${directory}/${copy}`);
    fs.rmdir(directory);
  } catch {
    // A disk that refuses must not keep the home from its owner (I142): the next start tries again.
  }
}
