import type { ProcessObserver } from "../types.ts";

/**
 * `at-first-use`: with the first question. `for-signals`: with the first signal, `open`, `peer` or `capabilities`, so that a
 * program that looks and seldom signals stays small; what it identifies before has no kernel id. `never`.
 */
export type LibraryPolicy = "at-first-use" | "for-signals" | "never";

export type Strongest =
  | { readonly kind: "found"; readonly observer: ProcessObserver }
  /** `passing`: only for want of a descriptor, so that it may be there with the next question (I155). */
  | { readonly kind: "absent"; readonly reason: string; readonly passing: boolean };

interface Choices {
  readonly policy: LibraryPolicy;
  /** With what the library adds. Called until it has found it, or has a reason that stays. */
  readonly strongest: () => Strongest;
  readonly without: (reason: string) => ProcessObserver;
}

const UNWANTED: Strongest = { kind: "absent", reason: "the library is not wanted", passing: false };

/** Chooses between two back-ends at each call, since the library comes late. */
export function createLateObserver({ policy, strongest, without }: Choices): ProcessObserver {
  let loaded: ProcessObserver | null = null;
  const load = (): ProcessObserver => {
    if (loaded !== null) return loaded;
    const found = policy === "never" ? UNWANTED : strongest();
    const observer = found.kind === "found" ? found.observer : without(found.reason);
    if (found.kind === "found" || !found.passing) loaded = observer;
    return observer;
  };
  let weak: ProcessObserver | null = null;
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
