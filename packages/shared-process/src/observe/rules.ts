import { errnoOf } from "../errors.ts";
import type { ProcessPorts } from "../ports.ts";
import { parseStat, type ProcessStat } from "../stat.ts";
import type { Marker, Signal, SignalOptions, SignalOutcome, SignalWay, UnknownWhy, Verdict } from "../types.ts";
import { searchEnvironment } from "./environment.ts";
import { whyProcIsBlind, whyUnreadable } from "./observe.ts";

export const NO_SUCH_PID = { kind: "gone", why: "no-such-pid" } as const;
export const DEFUNCT = { kind: "gone", why: "defunct" } as const;
export const A_THREAD = { kind: "replaced", by: "thread" } as const;

/** What to do where the back-end cannot bind a signal to its process: nothing, or look and kill in one turn. */
export type SignalMode = "refuse" | "narrow";

export interface Order extends SignalOptions {
  readonly signal: Signal;
  readonly target: "process" | "group";
}

/** A zombie's number is given away only once somebody has waited for it (I97). */
export const keepsNumber = (verdict: Verdict): boolean =>
  verdict.kind === "current" || (verdict.kind === "gone" && verdict.why === "defunct");

export const unknown = (why: UnknownWhy): Extract<Verdict, { kind: "unknown" }> => ({ kind: "unknown", why });

export const withheld = (why: UnknownWhy): SignalOutcome => ({ kind: "not-sent", verdict: unknown(why) });

/**
 * Process 1, the caller itself and the caller's own group are never signalled: -1 would be everybody, and the others
 * cannot be meant. While the caller cannot read its own group, no group is signalled. `null`: nothing stands against it.
 */
export function whyUntouchable(ports: ProcessPorts, pid: number, target: Order["target"]): UnknownWhy | null {
  if (pid <= 1 || pid === ports.pid) return "unsupported";
  if (target === "process") return null;
  const blind = whyProcIsBlind(ports);
  if (blind !== null) return blind;
  try {
    const parsed = parseStat(ports.readFile(`/proc/${ports.pid}/stat`));
    if (parsed.kind === "unparsable") return "unparsable";
    return parsed.stat.pgrp === pid ? "unsupported" : null;
  } catch (error) {
    const found = whyUnreadable(ports, ports.pid, error);
    return found.kind === "unknown" ? found.why : "hidden";
  }
}

/** `null` where it cannot be read or understood. */
export function statIn(read: () => string): ProcessStat | null {
  try {
    const parsed = parseStat(read());
    return parsed.kind === "parsed" ? parsed.stat : null;
  } catch {
    // Whoever needs a field of it takes a missing one for unknown.
    return null;
  }
}

/** Why the marker does not stand in the environment of whoever has the number now; `null` when it does. */
export function whyUnmarked(ports: ProcessPorts, pid: number, marker: Marker): UnknownWhy | null {
  const search = searchEnvironment(ports, pid, marker);
  if (search === "found") return null;
  return search === "descriptors-exhausted" || search === "denied" ? search : "marker-missing";
}

const SIGNALS: Record<Signal, true> = {
  SIGINT: true,
  SIGTERM: true,
  SIGKILL: true,
  SIGHUP: true,
  SIGCONT: true,
  SIGSTOP: true,
};

/** For what comes from a file: `process.kill` takes a missing or empty name for SIGTERM. */
export const NO_SIGNAL = { kind: "denied", errno: "EINVAL" } as const;
export const isSignal = (name: unknown): boolean => typeof name === "string" && Object.hasOwn(SIGNALS, name);

/** Performs the call that sends. Nothing of ours may run between the last look and this. */
export function sendBy(via: SignalWay, signal: Signal, send: () => void): SignalOutcome {
  if (!isSignal(signal)) return NO_SIGNAL;
  try {
    send();
    return { kind: "sent", via };
  } catch (error) {
    const errno = errnoOf(error);
    return errno === "ESRCH" ? { kind: "not-sent", verdict: NO_SUCH_PID } : { kind: "denied", errno: errno ?? "EIO" };
  }
}
