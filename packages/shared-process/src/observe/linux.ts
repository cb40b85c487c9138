import type { FoundPidfds } from "../library/system.ts";
import type { ProcessObserver } from "../types.ts";
import { createBareObserver } from "./bare.ts";
import { createHostReader } from "./host.ts";
import { createLateObserver, type LibraryPolicy, type Strongest } from "./late.ts";
import { createNarrowObserver } from "./narrow.ts";
import { whyProcIsBlind } from "./observe.ts";
import { createPidfdObserver } from "./pidfd.ts";
import type { LinuxDeps } from "./sight.ts";

interface LinuxOptions {
  readonly policy: LibraryPolicy;
  /** Asked with the first question that needs them, and again while they are absent for a passing reason. */
  readonly findPidfds: () => FoundPidfds;
}

export function createLinuxObserver(
  base: Omit<LinuxDeps, "readHost">,
  { policy, findPidfds }: LinuxOptions,
): ProcessObserver {
  const deps = { ...base, readHost: createHostReader(base.ports) };
  const without = (reason: string): ProcessObserver =>
    // With a /proc of another namespace kill(2) can still prove an end, so that stays with the narrow back-end.
    whyProcIsBlind(deps.ports) === "no-proc"
      ? createBareObserver("no-proc", `/proc cannot be read, and ${reason}`)
      : createNarrowObserver(deps, reason);
  const strongest = (): Strongest => {
    const found = findPidfds();
    if (found.kind === "absent") return found;
    return { kind: "found", observer: createPidfdObserver({ ...deps, pidfds: found.pidfds }) };
  };
  return createLateObserver({ policy, strongest, without });
}
