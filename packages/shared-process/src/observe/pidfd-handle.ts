import { errnoOf, invariant } from "../errors.ts";
import { ExitNotice } from "../exits/notice.ts";
import { zombieStatus } from "../exits/status.ts";
import type { PidfdLibrary } from "../library/pidfd.ts";
import type {
  ExitInfo,
  ProcessHandle,
  ProcessIdentity,
  Signal,
  SignalOptions,
  SignalOutcome,
  Verdict,
} from "../types.ts";
import { observe } from "./observe.ts";
import type { PidfdDeps } from "./pidfd.ts";
import { DEFUNCT, NO_SUCH_PID, type Order, sendBy, whyUnmarked, whyUntouchable, withheld } from "./rules.ts";

/**
 * How long an end is kept back for its status where the zombie does not tell it: the kernel does once the process is reaped,
 * which its parent may never do, and some container's process 1 only every two seconds.
 */
const STATUS_WAIT_MS = 50;

type Ended = (exit: ExitInfo) => void;

interface Held {
  readonly fd: number;
  readonly identity: ProcessIdentity;
  /** Only this process's event loop reaps it: it keeps its number for the whole turn in which it was seen. */
  readonly isOwnChild?: boolean;
}

/** A process held by its pidfd: every question and every signal is about it and no other. */
export class PidfdHandle implements ProcessHandle {
  readonly identity: ProcessIdentity;
  readonly #deps: PidfdDeps;
  readonly #exits: ExitNotice;
  readonly #isOwnChild: boolean;
  #fd: number | null;
  /** Of an own child that had ended when it was let go: this package does that by itself. */
  #end: Gone | null = null;

  /** `exits`: of an own child, which Node tells. */
  constructor(deps: PidfdDeps, { fd, identity, exits }: Held & { readonly exits?: ExitNotice }) {
    this.#deps = deps;
    this.#fd = fd;
    this.identity = identity;
    this.#isOwnChild = exits !== undefined;
    this.#exits = exits ?? new ExitNotice((ended) => watchEnd(deps, { fd: this.#held(), pid: identity.pid }, ended));
  }

  get exited(): Promise<ExitInfo> {
    return this.#exits.exited;
  }

  onExit(callback: (exit: ExitInfo) => void): Disposable {
    return this.#exits.onExit(callback);
  }

  verdict(): Verdict {
    return this.#end ?? endOf(this.#deps.pidfds, this.#held()) ?? CURRENT;
  }

  signal(signal: Signal, options?: SignalOptions): SignalOutcome {
    return this.#attempt({ ...options, signal, target: "process" });
  }

  signalGroup(signal: Signal, options?: SignalOptions): SignalOutcome {
    return this.#attempt({ ...options, signal, target: "group" });
  }

  holdsNumber(): boolean {
    if (this.#end !== null) return false;
    const fd = this.#held();
    return this.#deps.pidfds.stateOf(fd) !== "reaped" || hasGroup(this.#deps.pidfds, fd);
  }

  [Symbol.dispose](): void {
    if (this.#fd === null) return;
    // The descriptor leaves the epoll set before it is closed and its number becomes another's.
    this.#exits[Symbol.dispose]();
    if (this.#isOwnChild) this.#end = endOf(this.#deps.pidfds, this.#fd);
    this.#deps.pidfds.close(this.#fd);
    this.#fd = null;
  }

  #attempt(order: Order): SignalOutcome {
    if (this.#end !== null) return { kind: "not-sent", verdict: this.#end };
    return signalThrough(
      this.#deps,
      { fd: this.#held(), identity: this.identity, isOwnChild: this.#isOwnChild },
      order,
    );
  }

  #held(): number {
    invariant(this.#fd !== null, "a handle that was disposed of is not asked");
    return this.#fd;
  }
}

/** The kernel looks for the group by what the descriptor is bound to, not by a number. */
function hasGroup(pidfds: PidfdLibrary, fd: number): boolean {
  if (!pidfds.features.groupSignals) return false;
  try {
    pidfds.send(fd, 0, "group");
    return true;
  } catch (error) {
    // Somebody is there who may not be signalled.
    return errnoOf(error) === "EPERM";
  }
}

type Gone = Extract<Verdict, { kind: "gone" }>;

const CURRENT = { kind: "current", basis: "handle" } as const;

/** `null` while it runs; a leader that ended while its threads run on does. */
export function endOf(pidfds: PidfdLibrary, fd: number): Gone | null {
  switch (pidfds.stateOf(fd)) {
    case "alive":
      return null;
    case "ended":
      return DEFUNCT;
    case "reaped":
      return NO_SUCH_PID;
  }
}

export function signalThrough(deps: PidfdDeps, held: Held, order: Order): SignalOutcome {
  const { fd, identity } = held;
  const { ports, pidfds } = deps;
  const { pid } = identity;
  const { signal, target, environment } = order;
  const untouchable = whyUntouchable(ports, pid, target);
  if (untouchable !== null) return withheld(untouchable);
  // Read by number, and so the process's own if the descriptor is alive after.
  const unmarked = environment === undefined ? null : whyUnmarked(ports, pid, environment);
  const ended = endOf(pidfds, fd);
  if (ended !== null && (target === "process" || environment !== undefined))
    return { kind: "not-sent", verdict: ended };
  if (unmarked !== null) return withheld(unmarked);
  if (target === "group" && !pidfds.features.groupSignals) return signalGroupByNumber(deps, held, signal);
  const outcome = sendBy("pidfd", signal, () => pidfds.send(fd, signal, target));
  // That nobody is in a group that it leads says nothing of the process itself.
  const leadsNone = target === "group" && outcome.kind === "not-sent" && endOf(pidfds, fd) === null;
  return leadsNone ? { kind: "denied", errno: "ESRCH" } : outcome;
}

/** Before Linux 6.9: while the leader is not reaped, its group's number is its own (I97). */
function signalGroupByNumber(
  { ports, pidfds, mode }: PidfdDeps,
  { fd, identity, isOwnChild = false }: Held,
  signal: Signal,
): SignalOutcome {
  const { pid } = identity;
  if (mode === "refuse" && !isOwnChild) return withheld("unsupported");
  const seen = observe(ports, pid);
  if (pidfds.stateOf(fd) === "reaped") return { kind: "not-sent", verdict: NO_SUCH_PID };
  if (seen.kind === "unknown") return withheld(seen.why);
  if (seen.kind !== "process" || seen.stat.pgrp !== pid) return { kind: "denied", errno: "ESRCH" };
  return sendBy(isOwnChild ? "unreaped-child" : "narrow-window", signal, () => ports.kill(-pid, signal));
}

function watchEnd(deps: PidfdDeps, { fd, pid }: { fd: number; pid: number }, ended: Ended): Disposable {
  const { pidfds, ports, clock, poller } = deps;
  const open: Disposable[] = [];
  const close = (): void => {
    for (const one of open.splice(0)) one[Symbol.dispose]();
  };
  // Nobody waits for the descriptor to leave the epoll set, where it is disarmed.
  const tell = (exit: ExitInfo): void => {
    try {
      ended(exit);
    } finally {
      close();
    }
  };
  const kernelStatus = (): ExitInfo["status"] => (pidfds.features.exitStatus ? pidfds.exitStatusOf(fd) : null);
  const begun = (): void => {
    const at = clock.now();
    const kept = kernelStatus();
    if (kept !== null) return tell({ at, status: kept });
    const left = zombieStatus(ports, pid);
    const state = pidfds.stateOf(fd);
    // While it is not reaped the number is its own, so what was read by it before this is, too.
    if (left !== null && state === "ended") return tell({ at, status: left });
    if (!pidfds.features.exitStatus || state === "reaped") return tell({ at, status: kernelStatus() });
    close();
    const late = (): void => tell({ at, status: kernelStatus() });
    open.push(clock.setTimer(STATUS_WAIT_MS, late, { background: true }));
    tryWatch(open, () => pidfds.watch(fd, "reaped", late));
  };
  const look = (): ExitInfo | null => (pidfds.stateOf(fd) === "alive" ? null : { at: clock.now(), status: null });
  if (!tryWatch(open, () => pidfds.watch(fd, "ended", begun))) open.push(poller.watch(look, begun));
  return { [Symbol.dispose]: close };
}

function tryWatch(open: Disposable[], watch: () => Disposable): boolean {
  try {
    open.push(watch());
    return true;
  } catch {
    // No descriptor, or no watch of the user's quota, is left for epoll: looking again and again needs neither.
    return false;
  }
}
