import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const libraryName = "koffi";
const builtPackage = fileURLToPath(new URL("../../packages/cli", import.meta.url));
/** The bundles contain everything but the library, and the two `package.json` below them say that they are CommonJS. */
const parts = ["bin", "dist/bin", "package.json"];

/**
 * The path of the program `agent` in a copy of the built command that lies where `koffi` cannot be found. Its
 * supervisor and its workers are those beside it, so they lack the library too. `atEnd` is `afterAll`, or
 * `onTestFinished` inside a test.
 */
export function commandWithoutLibrary(atEnd: (remove: () => void) => void): string {
  const directory = mkdtempSync(join(tmpdir(), "hf-bare-"));
  atEnd(() => rmSync(directory, { recursive: true, force: true }));
  for (const part of parts) cpSync(join(builtPackage, part), join(directory, part), { recursive: true });
  return join(directory, "bin/agent.js");
}

/** Where the programs of a command lie: `agent.js`, `supervisor.js` and `worker.js`. */
export const bundlesOf = (agent: string): string => join(agent, "../../dist/bin");
