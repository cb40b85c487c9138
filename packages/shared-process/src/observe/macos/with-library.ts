import { COMMON_CAPABILITIES, createHostMemory, type System, UNHELD } from "../system.ts";
import { comparable } from "./identity.ts";
import type { MacosLibrary } from "./library.ts";
import { environmentIn } from "./program-area.ts";

/** `SZOMB` of `sys/proc.h`. */
const ZOMBIE = 5;

/** macOS with libSystem: the kernel's ids, and signals that the kernel binds to a process by its audit token. */
export function createLibrarySystem(library: MacosLibrary, reason: string | null): System {
  const host = createHostMemory(
    () => library.hostUuid(),
    () => library.bootSession(),
  );
  return {
    capabilities: {
      ...COMMON_CAPABILITIES,
      backend: "macos-library",
      reason,
      kernelIds: true,
      boundSignals: true,
      exitStatus: false,
    },
    via: "audit-token",
    host,
    comparable,
    environmentOf: (pid) => environmentIn(library.programArea(pid)),
    lookIntervalMs: 0,
    look: (pid) => {
      const { uniqueId, idVersion, startMicros, status, group, parent } = library.process(pid);
      return {
        ...UNHELD,
        identity: { ...host(), pid, startTicks: startMicros, pidfsInode: uniqueId },
        isDefunct: status === ZOMBIE,
        group,
        parent,
        signal: (signal) => library.signal(pid, idVersion, signal),
      };
    },
  };
}
