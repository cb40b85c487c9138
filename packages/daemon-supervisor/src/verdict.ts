import { probeLifeline } from "@holdfast/shared-process";
import type { ProcessIdentity, ProcessObserver, Verdict } from "@holdfast/shared-process";

export interface Observed {
  readonly identity: ProcessIdentity;
  readonly lifelinePath: string | null;
}

/**
 * Fresh, never cached. A lifeline that nobody holds proves the end where /proc cannot tell (I164), and also where it seems to tell the
 * opposite: whoever has the number now is somebody else, even with the same start tick (I131).
 */
export function verdictOf(observer: ProcessObserver, { identity, lifelinePath }: Observed): Verdict {
  const verdict = observer.verdict(identity);
  if (lifelinePath === null || verdict.kind === "gone" || verdict.kind === "replaced") return verdict;
  return probeLifeline(lifelinePath) === "released" ? { kind: "gone", why: "lifeline-released" } : verdict;
}
