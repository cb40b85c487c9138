import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** mkfs lies where a user's PATH need not lead. */
export const baseEnv = { PATH: [process.env["PATH"] ?? "/usr/bin:/bin", "/usr/sbin", "/sbin"].join(delimiter) };

/** What keeps a test that needs a kernel's help from running here, in words; `null` when nothing does. */
export function obstacle(...commands: readonly string[]): string | null {
  if (process.platform !== "linux") return "needs Linux";
  if (process.geteuid?.() !== 0) return "needs root";
  const missing = commands.filter((command) => !isThere(command));
  return missing.length === 0 ? null : `needs ${missing.join(", ")}`;
}

export function isThere(command: string): boolean {
  return baseEnv.PATH.split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, command), constants.X_OK);
      return true;
    } catch {
      // Not there, or not for us: the same for who wants to run it.
      return false;
    }
  });
}

/** The reason as the end of a title, where what it names is skipped. */
export const because = (reason: string | null): string => (reason === null ? "" : ` (skipped: ${reason})`);
