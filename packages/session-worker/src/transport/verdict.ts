import { probeLifeline } from "@holdfast/shared-process";
import type { ProcessIdentity, ProcessObserver, Verdict } from "@holdfast/shared-process";

export interface Observed {
  readonly identity: ProcessIdentity;
  readonly lifelinePath: string | null;
}

/**
 * Fresh, never cached. A lifeline that nobody holds proves the end where /proc cannot tell (I164), and also where a number and a start
 * tick seem to tell the opposite: whoever has them now is somebody else (I131). What the kernel's own id says stands: a FIFO may have
 * been replaced, by a restored copy of the home say. Of a process of another machine it says nothing: each kernel has a FIFO of its own
 * behind the same name (I163).
 */
export function verdictOf(observer: ProcessObserver, { identity, lifelinePath }: Observed): Verdict {
  const verdict = observer.verdict(identity);
  const isOpen = verdict.kind === "unknown" || (verdict.kind === "current" && verdict.basis === "start-time");
  const isElsewhere = verdict.kind === "unknown" && verdict.why === "other-host";
  if (lifelinePath === null || !isOpen || isElsewhere) return verdict;
  return probeLifeline(lifelinePath) === "released" ? { kind: "gone", why: "lifeline-released" } : verdict;
}
