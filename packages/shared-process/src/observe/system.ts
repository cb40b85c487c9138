import { CodedError } from "../errors.ts";
import type { ProcessPorts } from "../ports.ts";
import type { Capabilities, Clock, ExitInfo, Host, ProcessIdentity, Signal, SignalWay } from "../types.ts";

/**
 * All that differs between the back-ends of macOS and Windows. What they have in common is in `system-look.ts` (verdicts),
 * `system-signal.ts` (when a signal may be sent), `system-exits.ts` and `system-observer.ts` (handles).
 */
export interface System {
  readonly capabilities: Capabilities;
  /** By what `Sight.signal` is bound to the process. */
  readonly via: SignalWay;
  host(): Host;
  /** What has this number now, zombies too. Throws system errors; `null` when the answer cannot be understood. */
  look(pid: number): Sight | null;
  /** The two identities, less what cannot be compared on this system. */
  comparable(recorded: ProcessIdentity, observed: ProcessIdentity): readonly [ProcessIdentity, ProcessIdentity];
  /** The process's entries `NAME=VALUE` as latin-1 text, a NUL before and after each; `null` where none can be read. */
  readonly environmentOf: ((pid: number) => string) | null;
  /** How often one watched process is looked at; between two looks only its number is probed. */
  readonly lookIntervalMs: number;
}

/** A process that was looked at; held until disposed of, where the system can hold one. */
export interface Sight extends Disposable {
  readonly identity: ProcessIdentity;
  readonly isDefunct: boolean;
  /** Its process group; `null` where there are none. */
  readonly group: number | null;
  /** Its parent's number; `null` where it is not read. */
  readonly parent: number | null;
  /** Throws system errors: ESRCH when it is there no longer. */
  signal(signal: Signal): void;
  /** Never throws. */
  exitStatus(): ExitInfo["status"];
}

/** For a sight of a system that can hold nothing and tells nothing of an end. */
export const UNHELD = { exitStatus: () => null, [Symbol.dispose]: () => {} } as const;

export interface SystemDeps {
  readonly ports: ProcessPorts;
  readonly mode: "refuse" | "narrow";
  readonly clock: Clock;
}

/** What neither macOS nor Windows can do, whatever the back-end. */
export const COMMON_CAPABILITIES = { boundGroupSignals: false, exits: "polling", peers: false } as const;

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** Reads each UUID until it could be read, then keeps it. Neither system has namespaces of processes. */
export function createHostMemory(readMachineId: () => string, readBootId: (() => string) | "none"): () => Host {
  let machineId: string | null = null;
  let bootId: string | null = readBootId === "none" ? "none" : null;
  return () => {
    machineId ??= uuidIn(readMachineId);
    if (readBootId !== "none") bootId ??= uuidIn(readBootId);
    return { machineId, bootId, pidNamespace: "none", timeNamespace: "none" };
  };
}

function uuidIn(read: () => string): string | null {
  try {
    return UUID.exec(read().toLowerCase())?.[0] ?? null;
  } catch {
    // A field that cannot be read is recorded as missing, and a missing field authorises nothing.
    return null;
  }
}

export function systemError(errno: string, call: string): CodedError {
  return new CodedError(errno, `${call} failed with ${errno}`);
}
