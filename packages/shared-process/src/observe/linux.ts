import { reasonOf } from "../errors.ts";
import { loadKoffi } from "../library/koffi.ts";
import { loadPidfdLibrary } from "../library/linux.ts";
import type { PidfdLibrary } from "../library/pidfd.ts";
import type { ProcessObserver } from "../types.ts";
import { createBareObserver } from "./bare.ts";
import { createHostReader } from "./host.ts";
import { createNarrowObserver } from "./narrow.ts";
import { whyProcIsBlind } from "./observe.ts";
import { createPidfdObserver } from "./pidfd.ts";
import type { LinuxDeps } from "./sight.ts";

/**
 * `at-first-use`: with the first question. `for-signals`: with the first signal, `open`, `peer` or `capabilities`, so that a
 * program that looks and seldom signals stays small; what it identifies before has no kernel id. `never`.
 */
export type LibraryPolicy = "at-first-use" | "for-signals" | "never";

interface LinuxOptions {
  readonly policy: LibraryPolicy;
  /** `undefined`: the machine's own. `null`: none. */
  readonly pidfds: PidfdLibrary | null | undefined;
}

/** Chooses between the two Linux back-ends at each call, since the library comes late. */
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
  const choose = (): ProcessObserver => {
    if (policy === "never") return without("the library is not wanted");
    const found = pidfds === undefined ? systemPidfds() : pidfds;
    if (found === null) return without("no pidfd library is given");
    return typeof found === "string" ? without(found) : createPidfdObserver({ ...deps, pidfds: found });
  };
  let strongest: ProcessObserver | null = null;
  const load = (): ProcessObserver => (strongest ??= choose());
  let weak: ProcessObserver | null = null;
  const look = (): ProcessObserver => {
    if (policy === "at-first-use" || strongest !== null) return load();
    return (weak ??= without("the library is loaded with the first signal"));
  };
  return {
    capabilities: () => load().capabilities(),
    self: () => look().self(),
    identify: (pid) => look().identify(pid),
    verdict: (identity) => look().verdict(identity),
    open: (identity, options) => load().open(identity, options),
    adopt: (child, options) => look().adopt(child, options),
    peer: (socket) => load().peer(socket),
    signal: (identity, signal, options) => load().signal(identity, signal, options),
    signalGroup: (identity, signal, options) => load().signalGroup(identity, signal, options),
  };
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
