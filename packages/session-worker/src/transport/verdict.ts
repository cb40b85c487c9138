import { probeLifeline } from "@holdfast/shared-process";
import type { ProcessIdentity, ProcessObserver, UnknownWhy, Verdict } from "@holdfast/shared-process";

export interface Observed {
  readonly identity: ProcessIdentity;
  readonly lifelinePath: string | null;
  readonly assertedGone?: boolean | undefined;
}

/** The kernel's, or a person's where the kernel can say nothing. */
export type RecordVerdict = Verdict | { readonly kind: "gone"; readonly why: "asserted" };

/**
 * Fresh, never cached. A lifeline that nobody holds proves the end where /proc cannot tell (I164), and also where a number and a start
 * tick seem to tell the opposite: whoever has them now is somebody else (I131). What the kernel's own id says stands: a FIFO may have
 * been replaced, by a restored copy of the home say. And a FIFO shows the holders of this machine alone: where the home is shared, those
 * of another one hold it unseen (I163). A person's word counts last: it stands against nothing that is seen (I164).
 */
export function verdictOf(
  observer: ProcessObserver,
  { identity, lifelinePath, assertedGone }: Observed,
): RecordVerdict {
  const verdict = observer.verdict(identity);
  const isOpen = verdict.kind === "unknown" || (verdict.kind === "current" && verdict.basis === "start-time");
  if (!isOpen) return verdict;
  const isElsewhere = verdict.kind === "unknown" && verdict.why === "other-host";
  const lifeline = lifelinePath === null || isElsewhere ? "unknown" : probeLifeline(lifelinePath);
  if (lifeline === "released") return { kind: "gone", why: "lifeline-released" };
  const isAsserted = assertedGone === true && verdict.kind === "unknown" && lifeline !== "held";
  return isAsserted ? { kind: "gone", why: "asserted" } : verdict;
}

/** For people, with the one cause that they can do something about spelled out. */
export const whyUnknown = (why: UnknownWhy): string =>
  why === "other-host"
    ? "its process is on another machine: it is neither signalled nor replaced from here (agent doctor)"
    : `its process cannot be observed: ${why}`;
