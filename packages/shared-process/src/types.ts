/**
 * Everything about one process that could be read; `null` where it could not. Two records are compared by the
 * strongest field both have.
 */
export interface ProcessIdentity {
  readonly machineId: string | null;
  readonly bootId: string | null;
  readonly pid: number;
  /** Link text of `/proc/self/ns/pid` as seen by the reader: a pid means nothing in another namespace. */
  readonly pidNamespace: string | null;
  /** Link text of `/proc/self/ns/time`: it shifts the start time by the reader's offset. */
  readonly timeNamespace: string | null;
  /** Field 22 of `/proc/PID/stat`: clock ticks since boot, in the reader's time namespace. Decimal digits. */
  readonly startTicks: string | null;
  /** Inode of the process's pidfd on pidfs: unique for one boot. Filled by the pidfd back-end alone. Decimal digits. */
  readonly pidfsInode: string | null;
}

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
  | { readonly kind: "sent"; readonly via: "pidfd" | "unreaped-child" | "narrow-window" }
  | { readonly kind: "not-sent"; readonly verdict: Verdict }
  | { readonly kind: "denied"; readonly errno: string };

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

export interface Capabilities {
  readonly backend: "linux-pidfd" | "linux-narrow" | "bare";
  /** Why a stronger back-end is not used; `null` when there is none. */
  readonly reason: string | null;
  readonly eventDrivenExits: boolean;
}

export interface ProcessObserver {
  capabilities(): Capabilities;
  /** This process. Throws `CodedError("identity_unreadable")` when even its own start time cannot be read. */
  self(): ProcessIdentity;
  identify(pid: number): IdentifyResult;
  /** Fresh and synchronous; never cached. A zombie is gone, a zombie leader with live threads is current. */
  verdict(identity: ProcessIdentity): Verdict;
  /**
   * Re-observes last, in the same turn as the signal. `mode: "refuse"` (the default for strangers) sends nothing
   * without a pidfd.
   */
  signal(identity: ProcessIdentity, signal: Signal, options?: SignalOptions): SignalOutcome;
}

export interface ExitInfo {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly status: { readonly code: number } | { readonly signal: string } | null;
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
