import type { ProcessObserver } from "../../types.ts";
import { type Run, systemRun } from "../run.ts";
import { createSystemObserver } from "../system-observer.ts";
import type { SystemDeps } from "../system.ts";
import type { WindowsLibrary } from "./library.ts";
import { createLibrarySystem } from "./with-library.ts";
import { createPowershellSystem } from "./with-powershell.ts";

export interface WindowsDeps extends SystemDeps {
  readonly library: WindowsLibrary | null;
  /** Why there is no library. */
  readonly reason: string | null;
  readonly run?: Run;
}

/** Right by documentation and against fakes; not run on Windows by us. */
export function createWindowsObserver({ library, reason, run, ...deps }: WindowsDeps): ProcessObserver {
  const system =
    library === null
      ? createPowershellSystem(deps.ports, run ?? systemRun, reason)
      : createLibrarySystem(library, reason);
  return createSystemObserver(system, deps);
}
