import { reasonOf } from "../errors.ts";
import { loadKoffi } from "../library/koffi.ts";
import { loadPidfdLibrary } from "../library/linux.ts";
import type { PidfdLibrary } from "../library/pidfd.ts";
import type { ProcessObserver } from "../types.ts";
import { createBareObserver } from "./bare.ts";
import { createHostReader } from "./host.ts";
import { createLateObserver, type LibraryPolicy } from "./late.ts";
import { createNarrowObserver } from "./narrow.ts";
import { whyProcIsBlind } from "./observe.ts";
import { createPidfdObserver } from "./pidfd.ts";
import type { LinuxDeps } from "./sight.ts";

interface LinuxOptions {
  readonly policy: LibraryPolicy;
  /** `undefined`: the machine's own. `null`: none. */
  readonly pidfds: PidfdLibrary | null | undefined;
}

export function createLinuxObserver(
  base: Omit<LinuxDeps, "readHost">,
  { policy, pidfds }: LinuxOptions,
): ProcessObserver {
  const deps = { ...base, readHost: createHostReader(base.ports) };
  const without = (reason: string): ProcessObserver =>
    // With a /proc of another namespace kill(2) can still prove an end, so that stays with the narrow back-end.
    whyProcIsBlind(deps.ports) === "no-proc"
      ? createBareObserver("no-proc", `/proc is not mounted, and ${reason}`)
      : createNarrowObserver(deps, reason);
  const strongest = (): ProcessObserver => {
    const found = pidfds === undefined ? systemPidfds() : (pidfds ?? "no pidfd library is given");
    return typeof found === "string" ? without(found) : createPidfdObserver({ ...deps, pidfds: found });
  };
  return createLateObserver({ policy, strongest, without });
}

let system: PidfdLibrary | string | null = null;

/** One for all observers of this process. A text says why there is none. */
function systemPidfds(): PidfdLibrary | string {
  system ??= loadSystemPidfds();
  return system;
}

function loadSystemPidfds(): PidfdLibrary | string {
  const loaded = loadKoffi();
  if (loaded.kind === "absent") return loaded.reason;
  try {
    return loadPidfdLibrary(loaded.koffi, process.pid, process.ppid);
  } catch (error) {
    // An old kernel (ENOSYS), or a container's filter (EPERM).
    return `the kernel gives no pidfds: ${reasonOf(error)}`;
  }
}
