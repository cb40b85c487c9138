import type { Socket } from "node:net";
import { CodedError, errnoOf } from "../errors.ts";
import { compareHosts, compareIdentities, identityOf } from "../identity.ts";
import type { PidfdLibrary } from "../library/pidfd.ts";
import { watchExit } from "../spawn/exit.ts";
import { parseStat } from "../stat.ts";
import type {
  Capabilities,
  IdentifyResult,
  OpenResult,
  ProcessIdentity,
  ProcessObserver,
  SignalOutcome,
  Verdict,
} from "../types.ts";
import { isPid, observe, whyProcIsBlind, whyUnreadable } from "./observe.ts";
import { endOf, PidfdHandle, signalThrough } from "./pidfd-handle.ts";
import { A_THREAD, NO_SUCH_PID, type Order, unknown } from "./rules.ts";
import type { LinuxDeps } from "./sight.ts";

export interface PidfdDeps extends LinuxDeps {
  readonly pidfds: PidfdLibrary;
}

/**
 * Linux with pidfds: open, compare, poll alive, and signal through the same descriptor. Whatever happens to the number
 * meanwhile, the descriptor stays with the process that had it when it was opened.
 */
export function createPidfdObserver(deps: PidfdDeps): ProcessObserver {
  const { ports, readHost, pidfds } = deps;
  const attempt = (identity: ProcessIdentity, order: Order): SignalOutcome =>
    withProcess(deps, identity, {
      found: (fd) => signalThrough(deps, { fd, identity }, order),
      otherwise: (verdict) => ({ kind: "not-sent", verdict }),
    });
  return {
    capabilities: () => pidfdCapabilities(pidfds),
    self: () => {
      const seen = identify(deps, ports.pid);
      if (seen.kind === "identified") return seen.identity;
      throw new CodedError("identity_unreadable", `This process cannot be told from others (${seen.why})`);
    },
    identify: (pid) => identify(deps, pid),
    verdict: (identity) =>
      withProcess<Verdict>(deps, identity, { found: (_fd, verdict) => verdict, otherwise: (verdict) => verdict }),
    open: (identity) => {
      const elsewhere = compareHosts(identity, readHost(), pidfds.features.kernelIds);
      if (elsewhere !== null) return elsewhere;
      const opened = openNumber(deps, identity.pid, false);
      if (opened.kind !== "opened") return opened;
      const { fd } = opened;
      return keepIfOpened(pidfds, fd, () => {
        const { verdict } = verify(deps, fd, identity);
        return verdict.kind === "current" ? hold(deps, { fd, identity }) : verdict;
      });
    },
    adopt: (child) => {
      // In a callback of another child's end this one may be reaped with both still null: its parent tells then.
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return NO_SUCH_PID;
      const opened = openNumber(deps, child.pid, false);
      if (opened.kind !== "opened") return opened;
      const { fd } = opened;
      const { pid } = child;
      return keepIfOpened(pidfds, fd, () => {
        const start = readStart(deps, pid);
        if (start.kind === "unknown") return start;
        if (start.ppid !== ports.pid) return NO_SUCH_PID;
        const read = readIdentity(deps, { fd, pid }, start);
        if (read.kind !== "identified") return read;
        return hold(deps, { fd, identity: read.identity, exits: watchExit(child, deps.clock) });
      });
    },
    peer: (socket) => peer(deps, socket),
    signal: (identity, signal, options) => attempt(identity, { ...options, signal, target: "process" }),
    signalGroup: (identity, signal, options) => attempt(identity, { ...options, signal, target: "group" }),
  };
}

function pidfdCapabilities({ features }: PidfdLibrary): Capabilities {
  return {
    backend: "linux-pidfd",
    reason: null,
    kernelIds: features.kernelIds,
    boundSignals: true,
    boundGroupSignals: features.groupSignals,
    exits: "events",
    exitStatus: features.exitStatus,
    peers: features.peers,
  };
}

interface Found<T> {
  /** It is the recorded process, which runs or is a zombie; the descriptor is closed after this. */
  found(fd: number, verdict: Verdict): T;
  otherwise(verdict: Exclude<Verdict, { kind: "current" }>): T;
}

function withProcess<T>(deps: PidfdDeps, identity: ProcessIdentity, then: Found<T>): T {
  const { readHost, pidfds } = deps;
  const elsewhere = compareHosts(identity, readHost(), pidfds.features.kernelIds);
  if (elsewhere !== null) return then.otherwise(elsewhere);
  const opened = openNumber(deps, identity.pid, true);
  if (opened.kind !== "opened") return then.otherwise(opened);
  try {
    const { verdict, isZombie } = verify(deps, opened.fd, identity);
    return verdict.kind === "current" || isZombie ? then.found(opened.fd, verdict) : then.otherwise(verdict);
  } finally {
    pidfds.close(opened.fd);
  }
}

type Opened = { readonly kind: "opened"; readonly fd: number } | Exclude<Verdict, { kind: "current" }>;

function openNumber({ ports, pidfds }: PidfdDeps, pid: number, brief: boolean): Opened {
  if (!isPid(pid)) return unknown("unparsable");
  try {
    return { kind: "opened", fd: pidfds.open(pid, { brief }) };
  } catch (error) {
    switch (errnoOf(error) ?? "") {
      case "ESRCH":
        return NO_SUCH_PID;
      case "ENOENT":
        return A_THREAD;
      case "EINVAL":
        // An older kernel's word for a thread's number, and for a process that is just ending.
        return explainRefusal(observe(ports, pid));
      default:
        return whyUnreadable(ports, pid, error);
    }
  }
}

function explainRefusal(seen: ReturnType<typeof observe>): Opened {
  switch (seen.kind) {
    case "absent":
      return NO_SUCH_PID;
    case "thread":
      return A_THREAD;
    case "unknown":
      return seen;
    case "process":
      return unknown("hidden");
  }
}

interface Verified {
  readonly verdict: Verdict;
  /** It is the recorded process, which has ended and anchors its group until it is reaped (I97). */
  readonly isZombie: boolean;
}

/**
 * Whether the process of this descriptor is the recorded one and runs. The poll is last: what was read by number before it
 * belongs to that process if it is alive after, since it held the number all along.
 */
function verify(deps: PidfdDeps, fd: number, recorded: ProcessIdentity): Verified {
  const { pidfds, readHost } = deps;
  const { pid } = recorded;
  const byKernelId = pidfds.features.kernelIds && recorded.pidfsInode !== null;
  const pidfsInode = byKernelId ? pidfds.inodeOf(fd) : null;
  const start = byKernelId ? null : readStart(deps, pid);
  if (start?.kind === "unknown") return { verdict: endOf(pidfds, fd) ?? start, isZombie: false };
  const startTicks = start?.ticks ?? null;
  const verdict = compareIdentities(recorded, identityOf(readHost(), { pid, startTicks, pidfsInode }));
  const isOther = verdict.kind !== "current" && !(verdict.kind === "unknown" && verdict.why === "no-common-field");
  if (isOther) return { verdict, isZombie: false };
  const end = endOf(pidfds, fd);
  return { verdict: end ?? verdict, isZombie: verdict.kind === "current" && end?.why === "defunct" };
}

type Start =
  | { readonly kind: "read"; readonly ticks: string; readonly ppid: number }
  | { readonly kind: "unknown"; readonly why: Why };
type Why = Extract<Verdict, { kind: "unknown" }>["why"];

/** Of whoever has the number now. */
function readStart({ ports }: PidfdDeps, pid: number): Start {
  const why = whyProcIsBlind(ports);
  if (why !== null) return { kind: "unknown", why };
  try {
    const parsed = parseStat(ports.readFile(`/proc/${pid}/stat`));
    const isOwn = parsed.kind === "parsed" && parsed.stat.pid === pid;
    if (!isOwn) return { kind: "unknown", why: "unparsable" };
    return { kind: "read", ticks: parsed.stat.startTicks, ppid: parsed.stat.ppid };
  } catch (error) {
    const found = whyUnreadable(ports, pid, error);
    return { kind: "unknown", why: found.kind === "unknown" ? found.why : "hidden" };
  }
}

function identify(deps: PidfdDeps, pid: number): IdentifyResult {
  const opened = openNumber(deps, pid, true);
  // A thread's number is no process's.
  if (opened.kind !== "opened") return opened.kind === "replaced" ? NO_SUCH_PID : opened;
  try {
    const read = readIdentity(deps, { fd: opened.fd, pid });
    return endOf(deps.pidfds, opened.fd) ?? read;
  } finally {
    deps.pidfds.close(opened.fd);
  }
}

/** Zombies too. What can be read is the caller's to confirm by a poll, or by having a child that it has not reaped. */
function readIdentity(
  deps: PidfdDeps,
  { fd, pid }: { readonly fd: number; readonly pid: number },
  start = readStart(deps, pid),
): Extract<IdentifyResult, { kind: "identified" | "unknown" }> {
  const { pidfds, readHost } = deps;
  const startTicks = start.kind === "read" ? start.ticks : null;
  const pidfsInode = pidfds.features.kernelIds ? pidfds.inodeOf(fd) : null;
  if (start.kind === "unknown" && pidfsInode === null) return start;
  return { kind: "identified", identity: identityOf(readHost(), { pid, startTicks, pidfsInode }) };
}

function hold(deps: PidfdDeps, held: ConstructorParameters<typeof PidfdHandle>[1]): OpenResult {
  return { kind: "opened", handle: new PidfdHandle(deps, held) };
}

/** The descriptor is closed unless a handle has it, also when something throws. */
function keepIfOpened(pidfds: PidfdLibrary, fd: number, use: () => OpenResult): OpenResult {
  let isKept = false;
  try {
    const result = use();
    isKept = result.kind === "opened";
    return result;
  } finally {
    if (!isKept) pidfds.close(fd);
  }
}

function peer(deps: PidfdDeps, socket: Socket): OpenResult {
  const { pidfds } = deps;
  const socketFd = descriptorOf(socket);
  if (!pidfds.features.peers || socketFd === null) return unknown("unsupported");
  let fd: number;
  try {
    fd = pidfds.peerOf(socketFd);
  } catch (error) {
    const errno = errnoOf(error) ?? "";
    if (errno === "ESRCH") return NO_SUCH_PID;
    // ENODATA among the rest: a socket that has no peer, or of another family, whose peer may well be alive.
    return unknown(errno === "EMFILE" || errno === "ENFILE" ? "descriptors-exhausted" : "unsupported");
  }
  return keepIfOpened(pidfds, fd, () => {
    const read = readPeer(deps, fd);
    // Last: what was read by number is its own if it is alive after.
    const seen = endOf(pidfds, fd) ?? read;
    return seen.kind === "identified" ? hold(deps, { fd, identity: seen.identity }) : seen;
  });
}

function readPeer(deps: PidfdDeps, fd: number): ReturnType<typeof readIdentity> {
  const blind = whyProcIsBlind(deps.ports);
  if (blind !== null) return unknown(blind);
  let pid: number;
  try {
    pid = deps.pidfds.pidOf(fd);
  } catch (error) {
    const found = whyUnreadable(deps.ports, deps.ports.pid, error);
    return found.kind === "unknown" ? found : unknown("hidden");
  }
  return pid > 0 ? readIdentity(deps, { fd, pid }) : unknown("other-pid-namespace");
}

/** Node gives no other way to the descriptor of a socket; without it the peer is unknown. */
function descriptorOf(socket: Socket): number | null {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly fd?: unknown } | null };
  const fd = handle?.fd;
  return typeof fd === "number" && fd >= 0 ? fd : null;
}
