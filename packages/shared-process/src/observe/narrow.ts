import { CodedError } from "../errors.ts";
import { isProcessIdentity, NO_IDENTITY } from "../identity.ts";
import type { ProcessPorts } from "../ports.ts";
import { watchExit } from "../spawn/exit.ts";
import { isDefunct } from "../stat.ts";
import type {
  Capabilities,
  Host,
  IdentifyResult,
  OpenResult,
  ProcessIdentity,
  ProcessObserver,
  SignalOutcome,
} from "../types.ts";
import { observe, whyUnreadable } from "./observe.ts";
import { DEFUNCT, NO_SUCH_PID, type Order, unknown } from "./rules.ts";
import { identityFrom, type LinuxDeps, type Sight, sight, signalInTurn } from "./sight.ts";
import { StatHandle } from "./stat-handle.ts";

/** Linux without a foreign-function library: /proc and kill(2) in one synchronous turn. */
export function createNarrowObserver(deps: LinuxDeps, reason: string): ProcessObserver {
  const { ports, readHost } = deps;
  const look = (identity: ProcessIdentity): Sight => sight(ports, readHost(), identity);
  const attempt = (identity: ProcessIdentity, order: Order): SignalOutcome =>
    isProcessIdentity(identity)
      ? signalInTurn(deps, identity.pid, { order, look: () => look(identity), via: "narrow-window" })
      : { kind: "not-sent", verdict: NO_IDENTITY };
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
      // In a callback of another child's end this one may be reaped with both still null: its parent tells then.
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return NO_SUCH_PID;
      const seen = capture(ports, readHost(), child.pid);
      if (seen.kind !== "identified") return seen;
      const { identity, ppid } = seen;
      if (ppid !== ports.pid) return NO_SUCH_PID;
      const exits = watchExit(child, deps.clock);
      return openStat(deps, identity, (fd) => new StatHandle(deps, { fd, identity, options, exits }));
    },
    peer: () => unknown("unsupported"),
    signal: (identity, signal, options) => attempt(identity, { ...options, signal, target: "process" }),
    signalGroup: (identity, signal, options) => attempt(identity, { ...options, signal, target: "group" }),
  };
}

const narrowCapabilities = (reason: string): Capabilities => ({
  backend: "linux-narrow",
  reason,
  kernelIds: false,
  boundSignals: false,
  boundGroupSignals: false,
  exits: "polling",
  exitStatus: false,
  peers: false,
});

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

type Captured =
  | {
      readonly kind: "identified";
      readonly identity: ProcessIdentity;
      readonly defunct: boolean;
      readonly ppid: number;
    }
  | Exclude<IdentifyResult, { kind: "identified" }>;

/** Identifies zombies too: a child of ours that has already ended still owns its number until it is reaped. */
function capture(ports: ProcessPorts, host: Host, pid: number): Captured {
  const seen = observe(ports, pid);
  if (seen.kind === "unknown") return seen;
  // A thread's number is no process's.
  if (seen.kind !== "process") return NO_SUCH_PID;
  const { stat } = seen;
  return { kind: "identified", identity: identityFrom(host, stat), defunct: isDefunct(stat), ppid: stat.ppid };
}
