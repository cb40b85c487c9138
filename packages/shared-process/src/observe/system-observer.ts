import type { ChildProcess } from "node:child_process";
import { CodedError, invariant } from "../errors.ts";
import type { ExitNotice } from "../exits/notice.ts";
import { watchExit } from "../spawn/exit.ts";
import type { OpenResult, ProcessHandle, ProcessIdentity, ProcessObserver } from "../types.ts";
import { createExitWatcher } from "./system-exits.ts";
import { DEFUNCT, keepsNumber, NO_SUCH_PID, unknown } from "./rules.ts";
import { lookAt, see, type Seen } from "./system-look.ts";
import { sendSignal } from "./system-signal.ts";
import type { Sight, System, SystemDeps } from "./system.ts";

/** The observer of a system without pidfd or /proc. */
export function createSystemObserver(system: System, deps: SystemDeps): ProcessObserver {
  const { ports } = deps;
  const context = { ...deps, system };
  const watch = createExitWatcher(system, deps);
  const observer: ProcessObserver = {
    capabilities: () => system.capabilities,
    self: () => {
      const seen = capture(system, deps, ports.pid);
      if (seen.kind === "seen") return identityOf(seen.sight);
      throw new CodedError("identity_unreadable", `This process cannot read what tells it from others (${seen.why})`);
    },
    identify: (pid) => {
      const seen = capture(system, deps, pid);
      if (seen.kind !== "seen") return seen;
      const identity = identityOf(seen.sight);
      return seen.sight.isDefunct ? DEFUNCT : { kind: "identified", identity };
    },
    verdict: (identity) => {
      using look = lookAt(system, ports, identity);
      return look.verdict;
    },
    open: (recorded, options) => {
      const look = lookAt(system, ports, recorded);
      const { verdict, sight } = look;
      if (verdict.kind === "current" && sight !== null) {
        const identity = completed(recorded, sight.identity);
        const exits = watch({ identity, sight, lifelinePath: options?.lifelinePath ?? null });
        return opened(observer, { identity, sight, exits, hasExited: () => false });
      }
      look[Symbol.dispose]();
      invariant(verdict.kind !== "current", "what is current was looked at");
      return verdict;
    },
    adopt: (child) => {
      if (child.pid === undefined || hasExited(child)) return NO_SUCH_PID;
      const seen = capture(system, deps, child.pid);
      if (seen.kind !== "seen") return seen;
      const { sight } = seen;
      const { identity, parent } = sight;
      // Reaped, and the end is not told yet. On Windows Node's own object keeps the number until it has told the end.
      if (parent !== null && parent !== ports.pid) {
        sight[Symbol.dispose]();
        return NO_SUCH_PID;
      }
      return opened(observer, {
        identity,
        sight,
        exits: watchExit(child, deps.clock),
        hasExited: () => hasExited(child),
      });
    },
    // Both kernels keep a number with the socket, and it may be another's by the time it is asked for.
    peer: () => unknown("unsupported"),
    signal: (identity, signal, options) =>
      sendSignal(context, identity, { signal, toGroup: false, marker: options?.environment }),
    signalGroup: (identity, signal, options) =>
      sendSignal(context, identity, { signal, toGroup: true, marker: options?.environment }),
  };
  return observer;
}

const hasExited = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** Nothing is identified without a field by which it could be recognised. */
function capture(system: System, { ports }: SystemDeps, pid: number): Seen {
  const seen = see(system, ports, pid);
  if (seen.kind !== "seen") return seen;
  const { startTicks, pidfsInode } = seen.sight.identity;
  if (startTicks !== null || pidfsInode !== null) return seen;
  seen.sight[Symbol.dispose]();
  return unknown("unparsable");
}

function identityOf(sight: Sight): ProcessIdentity {
  using seen = sight;
  return seen.identity;
}

/** What the record lacks was read from the very process that it names. */
const completed = (recorded: ProcessIdentity, observed: ProcessIdentity): ProcessIdentity => ({
  ...observed,
  startTicks: recorded.startTicks ?? observed.startTicks,
  pidfsInode: recorded.pidfsInode ?? observed.pidfsInode,
});

interface Held {
  readonly identity: ProcessIdentity;
  /** While a Windows process object is held its number is given to no other process. */
  readonly sight: Sight;
  readonly exits: ExitNotice;
  /** Node has told the exit of this child: its number may be another's. */
  readonly hasExited: () => boolean;
}

function opened(observer: ProcessObserver, { identity, sight, exits, hasExited: isOver }: Held): OpenResult {
  const handle: ProcessHandle = {
    identity,
    verdict: () => (isOver() ? NO_SUCH_PID : observer.verdict(identity)),
    signal: (signal, options) =>
      isOver() ? { kind: "not-sent", verdict: NO_SUCH_PID } : observer.signal(identity, signal, options),
    signalGroup: (signal, options) =>
      isOver() ? { kind: "not-sent", verdict: NO_SUCH_PID } : observer.signalGroup(identity, signal, options),
    holdsNumber: () => !isOver() && keepsNumber(observer.verdict(identity)),
    get exited() {
      return exits.exited;
    },
    onExit: (callback) => exits.onExit(callback),
    [Symbol.dispose]: () => {
      exits[Symbol.dispose]();
      sight[Symbol.dispose]();
    },
  };
  return { kind: "opened", handle };
}
