import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
/** mkfs lies where a user's PATH need not lead. */
export const baseEnv = { PATH: [process.env["PATH"] ?? "/usr/bin:/bin", "/usr/sbin", "/sbin"].join(delimiter) };

/** Where a writer flushes. */
export const engines = ["inline", "pool", "thread"] as const;

/** What keeps a test that needs a kernel's help from running here, in words; `null` when nothing does. */
export function obstacle(...commands: readonly string[]): string | null {
  if (process.platform !== "linux") return "needs Linux";
  if (process.geteuid?.() !== 0) return "needs root";
  const missing = commands.filter((command) => !isThere(command));
  return missing.length === 0 ? null : `needs ${missing.join(", ")}`;
}

function isThere(command: string): boolean {
  return baseEnv.PATH.split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The reason as the end of a title, where what it names is skipped. */
export const because = (reason: string | null): string => (reason === null ? "" : ` (skipped: ${reason})`);

/** A directory that is removed when the test ends. */
export function temporaryDirectory(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "holdfast-journal-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
