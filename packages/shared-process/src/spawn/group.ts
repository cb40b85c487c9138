import { observe } from "../observe/observe.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import type { ProcessStat } from "../stat.ts";
import { type Member, type Spare, without } from "../tree/ancestry.ts";
import { listProcesses } from "../tree/list.ts";
import type { ProcessIdentity, ProcessObserver, Signal, SignalOutcome } from "../types.ts";
import { signalUnreapedNow, type UnreapedChild } from "./unreaped.ts";

export interface SparingOptions {
  readonly spare: Spare;
  /** By whom the members are held: where it can bind no signal and its mode is `refuse`, only the leader is signalled. */
  readonly observer: ProcessObserver;
  readonly ports?: ProcessPorts;
}

/**
 * Signals the group that an own child leads, without those members that are to be spared. While the child is not reaped
 * the number is its group's, so whoever is in that group directly before the signal is of its tree.
 */
export function signalGroupSparing(
  child: UnreapedChild,
  signal: Signal,
  { spare, observer, ports = systemPorts }: SparingOptions,
): Promise<SignalOutcome> {
  return new Promise((resolve) => {
    setImmediate(() => {
      const attempt = { signal, ports };
      const members = membersOf(child.pid, ports);
      const others = members === null ? [] : without(members, spare);
      const isWhole = members !== null && others.length === members.size;
      // Where processes cannot be listed nobody can tell who is to be spared: the leader alone is certain.
      const target = isWhole ? -child.pid : child.pid;
      const isAnchored = child.exitCode === null && child.signalCode === null;
      const reached = isWhole || !isAnchored ? [] : others.filter(({ identity }) => identity.pid !== child.pid);
      for (const { identity } of reached) signalMember(child.pid, identity, { ...attempt, observer });
      resolve(signalUnreapedNow(child, target, attempt));
    });
  });
}

interface MemberAttempt {
  readonly signal: Signal;
  readonly observer: ProcessObserver;
  readonly ports: ProcessPorts;
}

/**
 * Its own parent reaps it, so its number can be given away at any time. What is read by number while it is held is its own, or the
 * signal finds it gone (I131).
 */
function signalMember(group: number, identity: ProcessIdentity, { signal, observer, ports }: MemberAttempt): void {
  const opened = observer.open(identity);
  if (opened.kind !== "opened") return;
  using handle = opened.handle;
  // An outcome other than "sent" leaves nothing to do: it has ended, has another user, or may not be signalled this way.
  if (statOf(identity.pid, ports)?.pgrp === group) handle.signal(signal);
}

function membersOf(group: number, ports: ProcessPorts): Map<number, Member> | null {
  const list = listProcesses(ports);
  if (list.kind === "blind") return null;
  const members = new Map<number, Member>();
  for (const pid of list.pids) {
    const stat = statOf(pid, ports);
    if (stat?.pgrp !== group) continue;
    const { command, ppid, startTicks } = stat;
    members.set(pid, { identity: { ...list.host, pid, startTicks, pidfsInode: null }, command, ppid });
  }
  return members;
}

function statOf(pid: number, ports: ProcessPorts): ProcessStat | null {
  const seen = observe(ports, pid);
  return seen.kind === "process" ? seen.stat : null;
}
