import { createObserver, probeLifeline, systemClock } from "@holdfast/shared-process";
import type { ProcessIdentity, ProcessObserver, Signal } from "@holdfast/shared-process";
import type { OwnerRecord } from "@holdfast/client/protocol";
import { homesHeldBy, verdictOf } from "@holdfast/session-worker/transport";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { supervisedBy } from "../originals.ts";
import { canonical } from "./discover.ts";
import type { Orphan } from "./orphans.ts";

/** Forced: SIGTERM, half a second, SIGKILL, one second (CLI.md §6). */
const TERM_MS = 500;
const KILL_MS = 1_000;
/** SIGKILL acts at once; on a loaded machine it takes a while until that shows. */
const KILL_ROUNDS = 3;
const POLL_MS = 20;

interface Target {
  readonly isGone: () => boolean;
  /** Behind a fresh look at what it is. */
  readonly signal: (signal: Signal) => void;
}

export const pause = (delayMs: number): Promise<void> =>
  new Promise((resolve) => void systemClock.setTimer(delayMs, resolve));

/** True when it is proven gone. */
async function end({ isGone, signal }: Target): Promise<boolean> {
  const kills = Array.from({ length: KILL_ROUNDS }, () => ["SIGKILL", KILL_MS] as const);
  for (const [name, waitMs] of [["SIGTERM", TERM_MS] as const, ...kills]) {
    if (isGone()) return true;
    signal(name);
    const until = systemClock.monotonic() + waitMs;
    while (!isGone() && systemClock.monotonic() < until) await pause(POLL_MS);
  }
  return isGone();
}

const isOver = (kind: string): boolean => kind === "gone" || kind === "replaced";

/** The owner that a record names. */
export function endOwner(record: OwnerRecord): Promise<boolean> {
  const observer = createObserver({ mode: "narrow" });
  return end({
    isGone: () => isOver(verdictOf(observer, record).kind),
    signal: (signal) => void signalOwner(observer, record, signal),
  });
}

/**
 * Signals the owner that a record names. True when it was sent. A number and a start tick alone are not enough: a
 * stranger may have both (I131), and an owner has no generation in its environment, by which a worker is told from one.
 */
export function signalOwner(observer: ProcessObserver, record: OwnerRecord, signal: Signal): boolean {
  const verdict = verdictOf(observer, record);
  if (verdict.kind !== "current" || isAnothers(record)) return false;
  const isProven = (verdict.basis !== "start-time" && mayBeSeen(record)) || holdsLifeline(record) || holdsHome(record);
  return isProven && observer.signal(record.identity, signal).kind === "sent";
}

/** A copy of its record may lie where its home was before that was moved, or at the path that it has in another mount namespace. */
const isAnothers = ({ home, identity }: OwnerRecord): boolean =>
  supervisedBy(nodeFileSystem, identity.pid, home) === "another";

/** The kernel's own id says which process it is, and not of which home: what it holds may lead to none that is here. */
function mayBeSeen({ identity }: OwnerRecord): boolean {
  const { places } = homesHeldBy(identity.pid);
  return places.size === 0 || places.has("here");
}

const holdsLifeline = ({ lifelinePath }: OwnerRecord): boolean =>
  lifelinePath !== null && probeLifeline(lifelinePath) === "held";

/** Where no lifeline could be made, or somebody removed it. */
const holdsHome = ({ home, identity }: OwnerRecord): boolean => homesHeldBy(identity.pid).all.includes(canonical(home));

/** A supervisor that no record names: what proves it is the lifeline of this home in its hands. */
export function endLostSupervisor(identity: ProcessIdentity, home: string): Promise<boolean> {
  const observer = createObserver({ mode: "narrow" });
  return end({
    isGone: () => isOver(verdictOf(observer, { identity, lifelinePath: null }).kind),
    signal: (signal) => {
      if (homesHeldBy(identity.pid).lifelines.includes(canonical(home))) observer.signal(identity, signal);
    },
  });
}

/** Each signal needs the marker or the generation in its environment, or a record of exactly this process. */
export function endOrphan({ identity, proof, byIdentity }: Orphan, observer: ProcessObserver): Promise<boolean> {
  const options = byIdentity ? {} : { environment: proof };
  return end({
    isGone: () => isOver(verdictOf(observer, { identity, lifelinePath: null }).kind),
    signal: (signal) => void observer.signal(identity, signal, options),
  });
}
