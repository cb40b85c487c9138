import type { ExitInfo } from "../../types.ts";
import { COMMON_CAPABILITIES, createHostMemory, type System, systemError } from "../system.ts";
import { comparable, isWindowsPid, refuseOtherSignals } from "./identity.ts";
import type { WindowsLibrary, WindowsProcess } from "./library.ts";

/** Windows with kernel32: a process object pins the number, and what was compared on it is terminated through it. */
export function createLibrarySystem(library: WindowsLibrary, reason: string | null): System {
  const host = createHostMemory(() => library.machineGuid(), "none");
  return {
    capabilities: {
      ...COMMON_CAPABILITIES,
      backend: "windows-library",
      reason,
      kernelIds: false,
      boundSignals: true,
      exitStatus: true,
    },
    via: "process-object",
    host,
    comparable,
    environmentOf: null,
    lookIntervalMs: 0,
    look: (pid) => {
      if (!isWindowsPid(pid)) return null;
      const process = library.open(pid, "query");
      const { created } = process;
      try {
        return {
          identity: { ...host(), pid, startTicks: created === "0" ? null : created, pidfsInode: null },
          isDefunct: process.hasEnded(),
          group: null,
          parent: null,
          signal: (signal) => {
            refuseOtherSignals(signal);
            terminate(library.open(pid, "terminate"), created);
          },
          exitStatus: () => exitStatus(process),
          [Symbol.dispose]: () => process.close(),
        };
      } catch (error) {
        process.close();
        throw error;
      }
    },
  };
}

function terminate(process: WindowsProcess, created: string): void {
  try {
    if (process.created !== created) throw systemError("ESRCH", "OpenProcess");
    process.terminate();
  } finally {
    process.close();
  }
}

function exitStatus(process: WindowsProcess): ExitInfo["status"] {
  try {
    return process.hasEnded() ? { code: process.exitCode() } : null;
  } catch {
    // That it ended is known by now; with what code is then not known.
    return null;
  }
}
