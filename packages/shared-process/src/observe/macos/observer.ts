import type { ProcessObserver } from "../../types.ts";
import { type Run, systemRun } from "../run.ts";
import { createSystemObserver } from "../system-observer.ts";
import type { SystemDeps } from "../system.ts";
import type { MacosLibrary } from "./library.ts";
import { createLibrarySystem } from "./with-library.ts";
import { createPsSystem } from "./with-ps.ts";

export interface MacosDeps extends SystemDeps {
  readonly library: MacosLibrary | null;
  /** Why there is no library. */
  readonly reason: string | null;
  readonly run?: Run;
}

/** Right by documentation and against fakes; not run on macOS by us. */
export function createMacosObserver({ library, reason, run, ...deps }: MacosDeps): ProcessObserver {
  const system =
    library === null ? createPsSystem(deps.ports, run ?? systemRun, reason) : createLibrarySystem(library, reason);
  return createSystemObserver(system, deps);
}
