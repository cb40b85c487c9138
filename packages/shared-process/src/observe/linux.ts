import type { FoundPidfds } from "../library/system.ts";
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
  /** Asked with the first question that needs them, and again while they are absent for a passing reason. */
  readonly findPidfds: () => FoundPidfds;
}

const UNWANTED = { kind: "absent", reason: "the library is not wanted", passing: false } as const;

/** Chooses between the two Linux back-ends at each call, since the library comes late. */
export function createLinuxObserver(
  base: Omit<LinuxDeps, "readHost">,
  { policy, findPidfds }: LinuxOptions,
): ProcessObserver {
  const deps = { ...base, readHost: createHostReader(base.ports) };
  const without = (reason: string): ProcessObserver =>
    // With a /proc of another namespace kill(2) can still prove an end, so that stays with the narrow back-end.
    whyProcIsBlind(deps.ports) === "no-proc"
      ? createBareObserver("no-proc", `/proc is not mounted, and ${reason}`)
      : createNarrowObserver(deps, reason);
  let strongest: ProcessObserver | null = null;
  const load = (): ProcessObserver => {
    if (strongest !== null) return strongest;
    const found = policy === "never" ? UNWANTED : findPidfds();
    if (found.kind === "absent" && found.passing) return without(found.reason);
    strongest = found.kind === "found" ? createPidfdObserver({ ...deps, pidfds: found.pidfds }) : without(found.reason);
    return strongest;
  };
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
