import { systemClock } from "../clock.ts";
import { reasonOf } from "../errors.ts";
import { createExitPoller } from "../exits/polling.ts";
import { type Koffi, loadKoffi } from "../library/koffi.ts";
import type { PidfdLibrary } from "../library/pidfd.ts";
import { type FoundPidfds, systemPidfds } from "../library/system.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import type { Clock, ProcessObserver } from "../types.ts";
import { createBareObserver } from "./bare.ts";
import { createLateObserver, type LibraryPolicy, type Strongest } from "./late.ts";
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
  const isReal = options.pidfds === undefined && options.ports === undefined;
  switch (ports.platform) {
    case "linux": {
      const findPidfds = isReal ? systemPidfds : (): FoundPidfds => givenPidfds(options.pidfds);
      return createLinuxObserver({ ...deps, poller: createExitPoller(clock) }, { policy: library, findPidfds });
    }
    case "darwin":
      return createOther(deps, { policy: library, isReal, load: loadMacosLibrary, create: createMacosObserver });
    case "win32":
      return createOther(deps, { policy: library, isReal, load: loadWindowsLibrary, create: createWindowsObserver });
    default:
      return createBareObserver("unsupported", `${ports.platform} has no back-end`);
  }
}

const NOT_GIVEN = { kind: "absent", reason: "no library is given", passing: false } as const;

const givenPidfds = (pidfds: PidfdLibrary | undefined): FoundPidfds =>
  pidfds === undefined ? NOT_GIVEN : { kind: "found", pidfds };

interface Other<Library> {
  readonly policy: LibraryPolicy;
  /** False on a made-up machine, which has no library. */
  readonly isReal: boolean;
  readonly load: (koffi: Koffi) => Library;
  readonly create: (
    deps: SystemDeps & { readonly library: Library | null; readonly reason: string | null },
  ) => ProcessObserver;
}

function createOther<Library>(deps: SystemDeps, { policy, isReal, load, create }: Other<Library>): ProcessObserver {
  const strongest = (): Strongest => {
    const loaded = isReal ? loadKoffi() : NOT_GIVEN;
    if (loaded.kind === "absent") return loaded;
    try {
      return { kind: "found", observer: create({ ...deps, library: load(loaded.koffi), reason: null }) };
    } catch (error) {
      // An older system, which has not all of the functions.
      return { kind: "absent", reason: `the system lacks a function: ${reasonOf(error)}`, passing: false };
    }
  };
  return createLateObserver({ policy, strongest, without: (reason) => create({ ...deps, library: null, reason }) });
}
