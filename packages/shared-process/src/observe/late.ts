import type { OpenResult, ProcessHandle, ProcessObserver } from "../types.ts";

/**
 * `at-first-use`: with the first question. `for-signals`: with the first signal (that of an adopted child's handle, too), `open`, `peer` or `capabilities`, so that a
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
  let isStrong = false;
  const load = (): ProcessObserver => {
    if (loaded !== null) return loaded;
    const found = policy === "never" ? UNWANTED : strongest();
    const observer = found.kind === "found" ? found.observer : without(found.reason);
    isStrong = found.kind === "found";
    if (isStrong || (found.kind === "absent" && !found.passing)) loaded = observer;
    return observer;
  };
  const loadStrong = (): ProcessObserver | null => {
    const observer = load();
    return isStrong ? observer : null;
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
    adopt: (child, options) => {
      const adopted = look().adopt(child, options);
      if (loaded !== null || adopted.kind !== "opened") return adopted;
      return { kind: "opened", handle: upgrading(adopted.handle, () => loadStrong()?.adopt(child, options) ?? null) };
    },
    peer: (socket) => load().peer(socket),
    signal: (identity, signal, options) => load().signal(identity, signal, options),
    signalGroup: (identity, signal, options) => load().signalGroup(identity, signal, options),
  };
}

/** Takes hold of the child once more with the first signal, now with what binds signals to it. */
function upgrading(weak: ProcessHandle, adoptAgain: () => OpenResult | null): ProcessHandle {
  let strong: ProcessHandle | null = null;
  const forSignals = (): ProcessHandle => {
    if (strong !== null) return strong;
    // One that has ended needs no library any more.
    if (weak.verdict().kind !== "current") return weak;
    const opened = adoptAgain();
    if (opened?.kind !== "opened") return weak;
    // What was opened by its number is the child if that is still there.
    if (weak.verdict().kind === "current") return (strong = opened.handle);
    opened.handle[Symbol.dispose]();
    return weak;
  };
  return {
    identity: weak.identity,
    get exited() {
      return weak.exited;
    },
    onExit: (callback) => weak.onExit(callback),
    verdict: () => weak.verdict(),
    signal: (signal, options) => forSignals().signal(signal, options),
    signalGroup: (signal, options) => forSignals().signalGroup(signal, options),
    holdsNumber: () => (strong ?? weak).holdsNumber(),
    [Symbol.dispose]: () => {
      strong?.[Symbol.dispose]();
      strong = null;
      weak[Symbol.dispose]();
    },
  };
}
