import { compareHosts, compareIdentities, identityOf } from "../identity.ts";
import type { ExitPoller } from "../exits/polling.ts";
import type { ProcessPorts } from "../ports.ts";
import { isDefunct, type ProcessStat } from "../stat.ts";
import type { Clock, Host, ProcessIdentity, SignalOutcome, Verdict } from "../types.ts";
import { observe } from "./observe.ts";
import {
  A_THREAD,
  DEFUNCT,
  NO_SUCH_PID,
  type Order,
  sendBy,
  type SignalMode,
  whyUnmarked,
  whyUntouchable,
  withheld,
} from "./rules.ts";

export interface LinuxDeps {
  readonly ports: ProcessPorts;
  readonly mode: SignalMode;
  readonly clock: Clock;
  readonly readHost: () => Host;
  readonly poller: ExitPoller;
}

/** What one look says of a recorded process, and whether it may be signalled by its number directly after. */
export interface Sight {
  readonly verdict: Verdict;
  readonly permitted: boolean;
  /** It is the process that was recorded, be it as a zombie, and leads its group: so long the group's number is its own. */
  readonly leads: boolean;
}

export const blind = (verdict: Verdict): Sight => ({ verdict, permitted: false, leads: false });

export function sight(ports: ProcessPorts, host: Host, recorded: ProcessIdentity): Sight {
  const elsewhere = compareHosts(recorded, host, false);
  // A record of another boot, host or namespace is not probed: its number means nothing here.
  if (elsewhere !== null) return blind(elsewhere);
  const seen = observe(ports, recorded.pid);
  if (seen.kind === "absent") return blind(NO_SUCH_PID);
  if (seen.kind === "thread") return blind(A_THREAD);
  if (seen.kind === "unknown") return blind(seen);
  const verdict = compareIdentities(recorded, identityFrom(host, seen.stat));
  const { permitted, stat } = seen;
  const leads = verdict.kind === "current" && stat.pgrp === stat.pid;
  // Whoever a zombie was, the recorded process does not run under its number (I3).
  const verdictNow = verdict.kind !== "replaced" && isDefunct(stat) ? DEFUNCT : verdict;
  return { verdict: verdictNow, permitted, leads };
}

interface Attempt {
  readonly order: Order;
  readonly look: () => Sight;
  /** `unreaped-child`: what the look shows keeps its number for the whole turn, so that any mode may signal it. */
  readonly via: "narrow-window" | "unreaped-child";
}

/**
 * The same turn as the last look: nothing of ours can run between. What is left is the kernel's own time between two
 * system calls.
 */
export function signalInTurn(
  { ports, mode }: Pick<LinuxDeps, "ports" | "mode">,
  pid: number,
  { order, look, via }: Attempt,
): SignalOutcome {
  const isReachable = ({ verdict, leads }: Sight): boolean =>
    verdict.kind === "current" || (order.target === "group" && leads);
  // Reads the caller's own state, and so before the look, after which nothing but the kill is to come.
  const untouchable = whyUntouchable(ports, pid, order.target);
  const first = look();
  if (!isReachable(first)) return { kind: "not-sent", verdict: first.verdict };
  if (mode === "refuse" && via === "narrow-window") return withheld("unsupported");
  if (untouchable !== null) return withheld(untouchable);
  const why = order.environment === undefined ? null : whyUnmarked(ports, pid, order.environment);
  if (why === "descriptors-exhausted" || why === "denied") return withheld(why);
  const last = order.environment === undefined ? first : look();
  if (!isReachable(last)) return { kind: "not-sent", verdict: last.verdict };
  // A process that has just ended has no environment either: its end is the better answer.
  if (why !== null)
    return last.verdict.kind === "current" ? withheld(why) : { kind: "not-sent", verdict: last.verdict };
  if (!last.permitted) return { kind: "denied", errno: "EPERM" };
  if (order.target === "group" && !last.leads) return { kind: "denied", errno: "ESRCH" };
  return sendBy(via, order.signal, () => ports.kill(order.target === "group" ? -pid : pid, order.signal));
}

export function identityFrom(host: Host, stat: ProcessStat): ProcessIdentity {
  return identityOf(host, { pid: stat.pid, startTicks: stat.startTicks, pidfsInode: null });
}
