import type { ProcessObserver } from "../types.ts";

/**
 * `at-first-use`: with the first question. `for-signals`: with the first signal, `open`, `peer` or `capabilities`, so that a
 * program that looks and seldom signals stays small; what it identifies before has no kernel id. `never`.
 */
export type LibraryPolicy = "at-first-use" | "for-signals" | "never";

interface Choices {
  readonly policy: LibraryPolicy;
  /** With what the library adds, or without and with the reason. Called once. */
  readonly strongest: () => ProcessObserver;
  readonly without: (reason: string) => ProcessObserver;
}

/** Chooses between two back-ends at each call, since the library comes late. */
export function createLateObserver({ policy, strongest, without }: Choices): ProcessObserver {
  let loaded: ProcessObserver | null = null;
  let weak: ProcessObserver | null = null;
  const load = (): ProcessObserver =>
    (loaded ??= policy === "never" ? without("the library is not wanted") : strongest());
  const look = (): ProcessObserver =>
    policy === "for-signals" && loaded === null
      ? (weak ??= without("the library is loaded with the first signal"))
      : load();
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
