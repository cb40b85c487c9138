import { CodedError, errnoOf } from "../errors.ts";
import { compareHosts, compareIdentities } from "../identity.ts";
import type { ProcessPorts } from "../ports.ts";
import { isDefunct, type ProcessStat } from "../stat.ts";
import type { IdentifyResult, ProcessIdentity, ProcessObserver, Signal, SignalOutcome, Verdict } from "../types.ts";
import { searchEnvironment } from "./environment.ts";
import { createHostReader, type Host } from "./host.ts";
import { observe } from "./observe.ts";

const NO_SUCH_PID = { kind: "gone", why: "no-such-pid" } as const;
const DEFUNCT = { kind: "gone", why: "defunct" } as const;

export type SignalMode = "refuse" | "narrow";

/** Linux without a foreign-function library: /proc and kill(2) in one synchronous turn. */
export function createNarrowObserver(ports: ProcessPorts, mode: SignalMode, reason: string): ProcessObserver {
  const readHost = createHostReader(ports);
  const look = (identity: ProcessIdentity): Sight => sight(ports, readHost(), identity);
  return {
    capabilities: () => ({ backend: "linux-narrow", reason, eventDrivenExits: false }),
    self: () => {
      const seen = capture(ports, readHost(), ports.pid);
      if (seen.kind === "identified") return seen.identity;
      throw new CodedError("identity_unreadable", `This process cannot read its own start time (${seen.why})`);
    },
    identify: (pid) => {
      const seen = capture(ports, readHost(), pid);
      return seen.kind === "identified" && seen.defunct ? DEFUNCT : seen;
    },
    verdict: (identity) => look(identity).verdict,
    signal: (identity, signal, options) => {
      const first = look(identity);
      if (first.verdict.kind !== "current") return { kind: "not-sent", verdict: first.verdict };
      if (mode === "refuse" || identity.pid <= 1 || identity.pid === ports.pid) return withheld("unsupported");
      if (options?.environment === undefined) return send(ports, identity, { signal, sight: first });
      const search = searchEnvironment(ports, identity.pid, options.environment);
      if (search === "descriptors-exhausted" || search === "denied") return withheld(search);
      const last = look(identity);
      // A process that has just ended has no environment either: its end is the better answer.
      if (search !== "found" && last.verdict.kind === "current") return withheld("marker-missing");
      return send(ports, identity, { signal, sight: last });
    },
  };
}

interface Sight {
  readonly verdict: Verdict;
  readonly permitted: boolean;
}

function sight(ports: ProcessPorts, host: Host, recorded: ProcessIdentity): Sight {
  const elsewhere = compareHosts(recorded, { ...host, pid: recorded.pid, startTicks: null, pidfsInode: null });
  // A record of another boot, host or namespace is not probed: its number means nothing here.
  if (elsewhere !== null) return blind(elsewhere);
  const seen = observe(ports, recorded.pid);
  if (seen.kind === "absent") return blind(NO_SUCH_PID);
  if (seen.kind === "thread") return blind({ kind: "replaced", by: "thread" });
  if (seen.kind === "unknown") return blind(seen);
  const verdict = compareIdentities(recorded, identityFrom(host, seen.stat));
  // Whoever a zombie was, the recorded process does not run under its number (I3).
  const verdictNow = verdict.kind !== "replaced" && isDefunct(seen.stat) ? DEFUNCT : verdict;
  return { verdict: verdictNow, permitted: seen.permitted };
}

const blind = (verdict: Verdict): Sight => ({ verdict, permitted: false });

/**
 * The same turn as the last observation: nothing of ours can run between. What is left is the kernel's own time
 * between two system calls.
 */
function send(
  ports: ProcessPorts,
  identity: ProcessIdentity,
  attempt: { readonly signal: Signal; readonly sight: Sight },
): SignalOutcome {
  const { verdict, permitted } = attempt.sight;
  if (verdict.kind !== "current") return { kind: "not-sent", verdict };
  if (!permitted) return { kind: "denied", errno: "EPERM" };
  try {
    ports.kill(identity.pid, attempt.signal);
    return { kind: "sent", via: "narrow-window" };
  } catch (error) {
    const errno = errnoOf(error);
    return errno === "ESRCH" ? { kind: "not-sent", verdict: NO_SUCH_PID } : { kind: "denied", errno: errno ?? "EIO" };
  }
}

function withheld(why: Extract<Verdict, { kind: "unknown" }>["why"]): SignalOutcome {
  return { kind: "not-sent", verdict: { kind: "unknown", why } };
}

export type Captured =
  | { readonly kind: "identified"; readonly identity: ProcessIdentity; readonly defunct: boolean }
  | Exclude<IdentifyResult, { kind: "identified" }>;

/** Identifies zombies too: a child of ours that has already ended still owns its number until it is reaped. */
export function capture(ports: ProcessPorts, host: Host, pid: number): Captured {
  const seen = observe(ports, pid);
  if (seen.kind === "unknown") return seen;
  // A thread's number is no process's.
  if (seen.kind !== "process") return NO_SUCH_PID;
  return { kind: "identified", identity: identityFrom(host, seen.stat), defunct: isDefunct(seen.stat) };
}

function identityFrom(host: Host, stat: ProcessStat): ProcessIdentity {
  return { ...host, pid: stat.pid, startTicks: stat.startTicks, pidfsInode: null };
}
