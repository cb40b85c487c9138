import { CodedError } from "../errors.ts";
import { compareHosts, compareIdentities } from "../identity.ts";
import type { ExitPoller } from "../exits/polling.ts";
import type { ProcessPorts } from "../ports.ts";
import { isDefunct, type ProcessStat } from "../stat.ts";
import type {
  Capabilities,
  Clock,
  Host,
  IdentifyResult,
  OpenResult,
  ProcessIdentity,
  ProcessObserver,
  SignalOutcome,
  Verdict,
} from "../types.ts";
import { watchExit } from "../spawn/exit.ts";
import { observe, whyUnreadable } from "./observe.ts";
import {
  A_THREAD,
  DEFUNCT,
  NO_SUCH_PID,
  type Order,
  sendBy,
  type SignalMode,
  unknown,
  whyUnmarked,
  whyUntouchable,
  withheld,
} from "./rules.ts";
import { StatHandle } from "./stat-handle.ts";

export interface LinuxDeps {
  readonly ports: ProcessPorts;
  readonly mode: SignalMode;
  readonly clock: Clock;
  readonly readHost: () => Host;
  readonly poller: ExitPoller;
}

/** Linux without a foreign-function library: /proc and kill(2) in one synchronous turn. */
export function createNarrowObserver(deps: LinuxDeps, reason: string): ProcessObserver {
  const { ports, readHost } = deps;
  const look = (identity: ProcessIdentity): Sight => sight(ports, readHost(), identity);
  const attempt = (identity: ProcessIdentity, order: Order): SignalOutcome =>
    signalInTurn(deps, identity.pid, { order, look: () => look(identity) });
  return {
    capabilities: () => narrowCapabilities(reason),
    self: () => {
      const seen = capture(ports, readHost(), ports.pid);
      if (seen.kind === "identified") return seen.identity;
      throw new CodedError("identity_unreadable", `This process cannot read its own start time (${seen.why})`);
    },
    identify: (pid) => {
      const seen = capture(ports, readHost(), pid);
      if (seen.kind !== "identified") return seen;
      return seen.defunct ? DEFUNCT : { kind: "identified", identity: seen.identity };
    },
    verdict: (identity) => look(identity).verdict,
    open: (identity, options) => {
      const { verdict } = look(identity);
      if (verdict.kind !== "current") return verdict;
      return openStat(deps, identity, (fd) => new StatHandle(deps, { fd, identity, options }));
    },
    adopt: (child, options) => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return NO_SUCH_PID;
      const seen = capture(ports, readHost(), child.pid);
      if (seen.kind !== "identified") return seen;
      const { identity } = seen;
      const exits = watchExit(child, deps.clock);
      return openStat(deps, identity, (fd) => new StatHandle(deps, { fd, identity, options, exits }));
    },
    peer: () => unknown("unsupported"),
    signal: (identity, signal, options) => attempt(identity, { ...options, signal, target: "process" }),
    signalGroup: (identity, signal, options) => attempt(identity, { ...options, signal, target: "group" }),
  };
}

export const narrowCapabilities = (reason: string): Capabilities => ({
  backend: "linux-narrow",
  reason,
  kernelIds: false,
  boundSignals: false,
  boundGroupSignals: false,
  exits: "polling",
  exitStatus: false,
  peers: false,
});

/** What one look says of a recorded process, and whether it may be signalled by its number directly after. */
export interface Sight {
  readonly verdict: Verdict;
  readonly permitted: boolean;
  /** It is the process that was recorded, be it as a zombie, and leads its group: so long the group's number is its own. */
  readonly leads: boolean;
}

export const blind = (verdict: Verdict): Sight => ({ verdict, permitted: false, leads: false });

function sight(ports: ProcessPorts, host: Host, recorded: ProcessIdentity): Sight {
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

/**
 * The same turn as the last look: nothing of ours can run between. What is left is the kernel's own time between two
 * system calls.
 */
export function signalInTurn(
  { ports, mode }: Pick<LinuxDeps, "ports" | "mode">,
  pid: number,
  { order, look }: { readonly order: Order; readonly look: () => Sight },
): SignalOutcome {
  const isReachable = ({ verdict, leads }: Sight): boolean =>
    verdict.kind === "current" || (order.target === "group" && leads);
  // Reads the caller's own state, and so before the look, after which nothing but the kill is to come.
  const untouchable = whyUntouchable(ports, pid, order.target);
  const first = look();
  if (!isReachable(first)) return { kind: "not-sent", verdict: first.verdict };
  if (mode === "refuse") return withheld("unsupported");
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
  return sendBy("narrow-window", () => ports.kill(order.target === "group" ? -pid : pid, order.signal));
}

/** The number could be given away between the look and the open: what was opened must be what was looked at. */
function openStat(
  { ports, readHost }: LinuxDeps,
  identity: ProcessIdentity,
  handle: (fd: number) => StatHandle,
): OpenResult {
  let fd: number;
  try {
    fd = ports.openFile(`/proc/${identity.pid}/stat`);
  } catch (error) {
    return whyUnreadable(ports, identity.pid, error);
  }
  const { verdict } = sight(ports, readHost(), identity);
  const isSame = verdict.kind === "current" || (verdict.kind === "gone" && verdict.why === "defunct");
  if (isSame) return { kind: "opened", handle: handle(fd) };
  ports.closeFile(fd);
  return verdict;
}

export type Captured =
  | { readonly kind: "identified"; readonly identity: ProcessIdentity; readonly defunct: boolean }
  | Exclude<IdentifyResult, { kind: "identified" }>;

/** Identifies zombies too: a child of ours that has already ended still owns its number until it is reaped. */
function capture(ports: ProcessPorts, host: Host, pid: number): Captured {
  const seen = observe(ports, pid);
  if (seen.kind === "unknown") return seen;
  // A thread's number is no process's.
  if (seen.kind !== "process") return NO_SUCH_PID;
  return { kind: "identified", identity: identityFrom(host, seen.stat), defunct: isDefunct(seen.stat) };
}

function identityFrom(host: Host, stat: ProcessStat): ProcessIdentity {
  return { ...host, pid: stat.pid, startTicks: stat.startTicks, pidfsInode: null };
}
