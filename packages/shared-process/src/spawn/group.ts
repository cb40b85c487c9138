import { observe } from "../observe/observe.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import type { ProcessStat } from "../stat.ts";
import { type Member, type Spare, without } from "../tree/ancestry.ts";
import { listProcesses } from "../tree/list.ts";
import type { Signal, SignalOutcome } from "../types.ts";
import { signalUnreapedNow, type UnreapedChild } from "./unreaped.ts";

/**
 * Signals the group that an own child leads, without those members that are to be spared. While the child is not reaped
 * the number is its group's, so whoever is in that group directly before the signal is of its tree.
 */
export function signalGroupSparing(
  child: UnreapedChild,
  signal: Signal,
  spare: Spare,
  ports: ProcessPorts = systemPorts,
): Promise<SignalOutcome> {
  return new Promise((resolve) => {
    setImmediate(() => {
      const attempt = { signal, ports };
      const members = membersOf(child.pid, ports);
      const others = members === null ? [] : without(members, spare);
      const isWhole = members !== null && others.length === members.size;
      // Where processes cannot be listed nobody can tell who is to be spared: the leader alone is certain.
      const target = isWhole ? -child.pid : child.pid;
      if (!isWhole) for (const { identity } of others) signalMember(child, identity.pid, attempt);
      resolve(signalUnreapedNow(child, target, attempt));
    });
  });
}

function signalMember(
  child: UnreapedChild,
  pid: number,
  { signal, ports }: { readonly signal: Signal; readonly ports: ProcessPorts },
): void {
  const isAnchored = child.exitCode === null && child.signalCode === null;
  if (pid === child.pid || !isAnchored || statOf(pid, ports)?.pgrp !== child.pid) return;
  try {
    ports.kill(pid, signal);
  } catch {
    // It ended in this moment, or has another user: in both cases there is nothing more that could be done here.
  }
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
