import { systemClock } from "../clock.ts";
import { reasonOf } from "../errors.ts";
import { createExitPoller } from "../exits/polling.ts";
import { type Koffi, loadKoffi } from "../library/koffi.ts";
import type { PidfdLibrary } from "../library/pidfd.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import type { Clock, ProcessObserver } from "../types.ts";
import { createBareObserver } from "./bare.ts";
import { createLateObserver, type LibraryPolicy } from "./late.ts";
import { createLinuxObserver } from "./linux.ts";
import { loadMacosLibrary } from "./macos/library.ts";
import { createMacosObserver } from "./macos/observer.ts";
import type { SignalMode } from "./rules.ts";
import type { SystemDeps } from "./system.ts";
import { loadWindowsLibrary } from "./windows/library.ts";
import { createWindowsObserver } from "./windows/observer.ts";

export interface ObserverOptions {
  /** What to do where only a check directly before the kill is possible. `refuse`, the default, sends nothing. */
  readonly mode?: SignalMode;
  /** When the optional library is loaded (10 to 15 ms, 3.7 MB); by default with the first call that it improves. */
  readonly library?: LibraryPolicy;
  readonly ports?: ProcessPorts;
  /** The system calls on pidfds of a made-up machine; with `ports` the real ones are never used. */
  readonly pidfds?: PidfdLibrary;
  readonly clock?: Clock;
}

/** The strongest back-end that this machine has, found by probing. */
export function createObserver(options: ObserverOptions = {}): ProcessObserver {
  const { mode = "refuse", clock = systemClock, ports = systemPorts, library = "at-first-use" } = options;
  const deps = { mode, clock, ports };
  const isReal = options.ports === undefined;
  switch (ports.platform) {
    case "linux": {
      const pidfds = options.pidfds ?? (isReal ? undefined : null);
      return createLinuxObserver({ ...deps, poller: createExitPoller(clock) }, { policy: library, pidfds });
    }
    case "darwin":
      return createOther(deps, { policy: library, isReal, load: loadMacosLibrary, create: createMacosObserver });
    case "win32":
      return createOther(deps, { policy: library, isReal, load: loadWindowsLibrary, create: createWindowsObserver });
    default:
      return createBareObserver("unsupported", `${ports.platform} has no back-end`);
  }
}

interface Other<Library> {
  readonly policy: LibraryPolicy;
  /** False on a made-up machine, which has no library. */
  readonly isReal: boolean;
  load(koffi: Koffi): Library;
  create(deps: SystemDeps & { readonly library: Library | null; readonly reason: string | null }): ProcessObserver;
}

function createOther<Library>(deps: SystemDeps, other: Other<Library>): ProcessObserver {
  const without = (reason: string): ProcessObserver => other.create({ ...deps, library: null, reason });
  const strongest = (): ProcessObserver => {
    const loaded = other.isReal ? loadKoffi() : ({ kind: "absent", reason: "no library is given" } as const);
    if (loaded.kind === "absent") return without(loaded.reason);
    try {
      return other.create({ ...deps, library: other.load(loaded.koffi), reason: null });
    } catch (error) {
      // An older system, which has not all of the functions.
      return without(`the system lacks a function: ${reasonOf(error)}`);
    }
  };
  return createLateObserver({ policy: other.policy, strongest, without });
}
