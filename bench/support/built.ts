import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const packages = new URL("../../packages/", import.meta.url);
const at = (path: string): string => new URL(path, packages).href;

export const agentPath = fileURLToPath(at("cli/bin/agent.js"));
export const workerProgram = fileURLToPath(at("cli/dist/bin/worker.js"));

// What is measured is what is shipped: the types come from the sources, the code from `dist`.
export const loadClient = (): Promise<typeof import("../../packages/client/src/index.ts")> =>
  import(at("client/dist/index.js"));
export const loadJournal = (): Promise<typeof import("../../packages/recovery-journal/src/index.ts")> =>
  import(at("recovery-journal/dist/index.js"));
export const loadSharedProcess = (): Promise<typeof import("../../packages/shared-process/src/index.ts")> =>
  import(at("shared-process/dist/index.js"));
export const loadSupervisor = (): Promise<typeof import("../../packages/daemon-supervisor/src/main.ts")> =>
  import(at("daemon-supervisor/dist/main.js"));

export function isBuilt(): boolean {
  return existsSync(workerProgram) && existsSync(fileURLToPath(at("daemon-supervisor/dist/main.js")));
}
