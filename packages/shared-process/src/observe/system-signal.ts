import { errnoOf } from "../errors.ts";
import type { Marker, ProcessIdentity, Signal, SignalOutcome, UnknownWhy, Verdict } from "../types.ts";
import { isSignal, NO_SIGNAL, unknown } from "./rules.ts";
import { type Look, lookAt } from "./system-look.ts";
import type { System, SystemDeps } from "./system.ts";

export interface Order {
  readonly signal: Signal;
  /** To the group that the process leads, which it anchors even as a zombie (I97). */
  readonly toGroup: boolean;
  readonly marker: Marker | undefined;
}

interface Context extends SystemDeps {
  readonly system: System;
}

/** An exec in the very moment makes an audit token stale; who execs oftener than this in a row is not hit. */
const ATTEMPTS = 3;

export function sendSignal(context: Context, recorded: ProcessIdentity, order: Order): SignalOutcome {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = sendOnce(context, recorded, order);
    if (outcome.kind !== "denied" || outcome.errno !== "ESRCH" || attempt === ATTEMPTS) return outcome;
  }
}

function sendOnce(context: Context, recorded: ProcessIdentity, order: Order): SignalOutcome {
  const { system, ports } = context;
  using first = lookAt(system, ports, recorded);
  if (!isTarget(first, order)) return notSent(first.verdict);
  if (isRefused(context, first, order)) return notSent(unknown("unsupported"));
  if (order.marker === undefined) return fire(context, first, order);
  const search = searchEntries(system, recorded.pid, order.marker);
  if (search === "unsupported" || search === "denied") return notSent(unknown(search));
  // The entries are its own only if the same process has the number before and after they were read.
  using last = lookAt(system, ports, recorded);
  if (search === "found") return fire(context, last, order);
  return notSent(last.verdict.kind === "current" ? unknown("marker-missing") : last.verdict);
}

const isTarget = (look: Look, order: Order): boolean => (order.toGroup ? look.isSame : look.verdict.kind === "current");

function isRefused({ system, ports, mode }: Context, { sight }: Look, { toGroup }: Order): boolean {
  const pid = sight?.identity.pid ?? 0;
  if (pid <= 1 || pid === ports.pid) return true;
  // A group is named by a number alone, so that no system here can bind a signal to it.
  if (!toGroup) return mode === "refuse" && !system.capabilities.boundSignals;
  return mode === "refuse" || sight?.group !== pid || isOwnGroup(system, ports.pid, pid);
}

/** Where it cannot be read the group may be the caller's own. */
function isOwnGroup(system: System, ownPid: number, group: number): boolean {
  try {
    using own = system.look(ownPid);
    return own === null || own.group === null || own.group === group;
  } catch {
    // As above: whoever cannot see itself signals no group.
    return true;
  }
}

function searchEntries(
  system: System,
  pid: number,
  marker: Marker,
): "found" | "absent" | Extract<UnknownWhy, "unsupported" | "denied"> {
  if (system.environmentOf === null) return "unsupported";
  const entry = Buffer.from(`${marker.name}=${marker.value}`, "utf8").toString("latin1");
  try {
    return system.environmentOf(pid).includes(`\0${entry}\0`) ? "found" : "absent";
  } catch (error) {
    return errnoOf(error) === "ESRCH" ? "absent" : "denied";
  }
}

/** In the turn of the last look: nothing of ours runs between the two. */
function fire({ system, ports }: Context, look: Look, order: Order): SignalOutcome {
  const { sight } = look;
  if (sight === null || !isTarget(look, order)) return notSent(look.verdict);
  if (!isSignal(order.signal)) return NO_SIGNAL;
  try {
    if (order.toGroup) ports.kill(-sight.identity.pid, order.signal);
    else sight.signal(order.signal);
    return { kind: "sent", via: order.toGroup ? "narrow-window" : system.via };
  } catch (error) {
    const errno = errnoOf(error) ?? "EIO";
    if (errno !== "ESRCH") return { kind: "denied", errno };
    using after = lookAt(system, ports, sight.identity);
    return after.verdict.kind === "current" ? { kind: "denied", errno } : notSent(after.verdict);
  }
}

const notSent = (verdict: Verdict): SignalOutcome => ({ kind: "not-sent", verdict });
