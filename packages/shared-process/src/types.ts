import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Everything about one process that could be read; `null` where it could not. Two records are compared by the
 * strongest field both have.
 */
export interface ProcessIdentity {
  readonly machineId: string | null;
  readonly bootId: string | null;
  readonly pid: number;
  /**
   * Link text of `/proc/self/ns/pid` as seen by the reader: a pid means nothing in another namespace. `none` on systems
   * without them.
   */
  readonly pidNamespace: string | null;
  /** Link text of `/proc/self/ns/time`: it shifts the start time by the reader's offset. `none` on systems without them. */
  readonly timeNamespace: string | null;
  /**
   * When it started, in the system's own unit, decimal digits. Linux: field 22 of `/proc/PID/stat`, clock ticks since boot
   * in the reader's time namespace. macOS: microseconds since the epoch. Windows: the creation FILETIME (100 ns).
   */
  readonly startTicks: string | null;
  /**
   * The kernel's own id of the process, never given twice in one boot, decimal digits. Linux 6.9 and later: the inode of
   * its pidfd on pidfs. macOS: `p_uniqueid`. Only a back-end with the library can read it.
   */
  readonly pidfsInode: string | null;
}

/** The fields of an identity that all processes of one observer share. */
export type Host = Pick<ProcessIdentity, "machineId" | "bootId" | "pidNamespace" | "timeNamespace">;

export type UnknownWhy =
  | "no-proc"
  | "foreign-proc"
  | "hidden"
  | "denied"
  | "descriptors-exhausted"
  | "other-host"
  | "other-pid-namespace"
  | "other-time-namespace"
  | "boot-unreadable"
  | "no-common-field"
  | "unparsable"
  | "marker-missing"
  | "unsupported";

/**
 * Directional: a signal needs `current`, removal needs `gone` or `replaced`, `unknown` authorises nothing (I15, I16).
 */
export type Verdict =
  | { readonly kind: "current"; readonly basis: "handle" | "kernel-id" | "start-time" }
  | { readonly kind: "replaced"; readonly by: "process" | "thread" }
  | { readonly kind: "gone"; readonly why: "no-such-pid" | "defunct" | "previous-boot" | "lifeline-released" }
  | { readonly kind: "unknown"; readonly why: UnknownWhy };

export type IdentifyResult =
  | { readonly kind: "identified"; readonly identity: ProcessIdentity }
  | Extract<Verdict, { kind: "gone" | "unknown" }>;

export type SignalOutcome =
  | { readonly kind: "sent"; readonly via: SignalWay }
  | { readonly kind: "not-sent"; readonly verdict: Verdict }
  | { readonly kind: "denied"; readonly errno: string };

/**
 * By what the signal was bound to the process. `narrow-window` alone leaves a window: between the last look and the kill
 * nothing of ours runs, but the process could end and its number be given away.
 */
export type SignalWay = "pidfd" | "audit-token" | "process-object" | "unreaped-child" | "narrow-window";

export type Signal = "SIGINT" | "SIGTERM" | "SIGKILL" | "SIGHUP" | "SIGCONT" | "SIGSTOP";

/** One `NAME=VALUE` by which the processes of a session or the worker of a generation are recognised. */
export interface Marker {
  readonly name: string;
  readonly value: string;
}

export interface SignalOptions {
  /** The process must have exactly this entry in its environment, or nothing is sent (`unknown: marker-missing`). */
  readonly environment?: Marker;
}

export type BackendName =
  | "linux-pidfd"
  | "linux-narrow"
  | "macos-library"
  | "macos-narrow"
  | "windows-library"
  | "windows-narrow"
  | "bare";

/** What this back-end can do here; probed, never derived from a version. */
export interface Capabilities {
  readonly backend: BackendName;
  /** Why a stronger back-end is not used; `null` when there is none. */
  readonly reason: string | null;
  /** Identities carry the kernel's own id, so that even a number given away within one tick is told apart. */
  readonly kernelIds: boolean;
  /** The kernel itself binds a signal to the process: no window. */
  readonly boundSignals: boolean;
  /** The same for a signal to a process group, also when its leader has ended. */
  readonly boundGroupSignals: boolean;
  /** How ends of processes that are not own children are noticed (a lifeline, where one is named, is an event everywhere). */
  readonly exits: "events" | "polling" | "none";
  /** The exit status of a process that is not an own child is known. */
  readonly exitStatus: boolean;
  /** `peer` can tell which process is at the other end of a unix socket. */
  readonly peers: boolean;
}

export type OpenResult =
  | { readonly kind: "opened"; readonly handle: ProcessHandle }
  | Exclude<Verdict, { kind: "current" }>;

export interface OpenOptions {
  /**
   * A FIFO that the process holds, and nobody else for longer: where the kernel gives no event of its end, the release of this
   * one does.
   */
  readonly lifelinePath?: string | null;
}

export interface ProcessObserver {
  /** Probes. On a machine that has the library this loads it, unless the policy is `never`. */
  capabilities(): Capabilities;
  /** This process. Throws `CodedError("identity_unreadable")` when nothing of it can be read that tells it from others. */
  self(): ProcessIdentity;
  identify(pid: number): IdentifyResult;
  /** Fresh and synchronous; never cached. A zombie is gone, a zombie leader with live threads is current. */
  verdict(identity: ProcessIdentity): Verdict;
  /** Takes hold of the process, so that every later question and signal is about it and no other. */
  open(identity: ProcessIdentity, options?: OpenOptions): OpenResult;
  /** A child of this process, in the turn of its spawn: also one that has already ended, until Node reaps it. */
  adopt(child: ChildProcess, options?: OpenOptions): OpenResult;
  /** The process that connected, or bound, the other end of a unix socket: the kernel's word, without a look-up by number. */
  peer(socket: Socket): OpenResult;
  /**
   * Re-observes last, in the same turn as the signal. `mode: "refuse"` (the default) sends nothing where the back-end
   * cannot bind it to the process.
   */
  signal(identity: ProcessIdentity, signal: Signal, options?: SignalOptions): SignalOutcome;
  /** To the process group that the process leads. Without a leader see `ProcessHandle.signalGroup`. */
  signalGroup(identity: ProcessIdentity, signal: Signal, options?: SignalOptions): SignalOutcome;
}

/**
 * One process, held: a pidfd, an open `/proc/PID/stat`, a Windows process object. Each costs a descriptor until it is
 * disposed of. To ask it after that is a bug, except for an own child that had ended by then: that one stays `gone`.
 */
export interface ProcessHandle extends ExitWatch, Disposable {
  readonly identity: ProcessIdentity;
  verdict(): Verdict;
  signal(signal: Signal, options?: SignalOptions): SignalOutcome;
  /**
   * To the group that the process leads. With `boundGroupSignals` also after its end, for as long as a member lives;
   * otherwise only while the leader itself is there, be it as a zombie.
   */
  signalGroup(signal: Signal, options?: SignalOptions): SignalOutcome;
  /**
   * Whether its number is certain to be its own: it is there, be it as a zombie, or, with `boundGroupSignals`, somebody is in the group
   * that it led. Meanwhile nobody else is in the group or the session of that number.
   */
  holdsNumber(): boolean;
}

export interface ExitInfo {
  /** Milliseconds since the epoch, when the end was noticed. */
  readonly at: number;
  /** `null` where it cannot be known. */
  readonly status: { readonly code: number } | { readonly signal: string } | null;
}

export interface ExitWatch {
  /**
   * Watching begins with the first question, so that a handle that nobody asks costs nothing. Never settles after disposal, unless
   * the end was told before.
   */
  readonly exited: Promise<ExitInfo>;
  /** Calls once; in a later microtask when the process has ended already. A watch does not keep this process alive. */
  onExit(callback: (exit: ExitInfo) => void): Disposable;
}

/**
 * Wall and monotonic time and timers, behind a seam so that a simulated world can replace them. Milliseconds
 * throughout.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Calls once after `delayMs`. Disposing cancels. `background: true` does not keep the process alive. */
  setTimer(delayMs: number, callback: () => void, options?: { readonly background?: boolean }): Disposable;
}

export interface Ids {
  /** UUIDv7: sorts by time. */
  newId(): string;
  /** UUIDv4: a generation. */
  newGeneration(): string;
  /** `bytes` random bytes as base64url. */
  newToken(bytes?: number): string;
}
