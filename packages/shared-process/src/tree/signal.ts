import type { Cgroup } from "../cgroup/cgroup.ts";
import { statIn } from "../observe/rules.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import { isDefunct } from "../stat.ts";
import type { Marker, ProcessObserver, Signal } from "../types.ts";
import type { Spare } from "./ancestry.ts";
import { isKept } from "./keep.ts";
import type { Member } from "./members.ts";
import type { Found } from "./tree.ts";

export interface SignalDeps {
  readonly observer: ProcessObserver;
  readonly marker?: Marker;
  readonly cgroup?: Cgroup | null;
  readonly keep: readonly string[];
  readonly spare?: Spare;
  readonly ports?: ProcessPorts;
}

/**
 * To each on its own, in the turn of the look. One that is held needs no other proof; of the others, what they carry with them is looked
 * at again, and whom only its parents had proven goes by its identity.
 */
export function signalEach(deps: SignalDeps, targets: readonly Member[], signal: Signal): void {
  const { observer, marker, cgroup } = deps;
  const listed = targets.some(({ handle }) => handle === null) ? cgroup?.members() : undefined;
  const inside = new Set(listed?.kind === "listed" ? listed.pids : []);
  // An outcome other than "sent" needs no handling here: the next look shows whether the process is still there.
  for (const { handle, identity, evidence } of targets) {
    if (handle !== null) handle.signal(signal);
    else if (evidence === "marker" && marker !== undefined) observer.signal(identity, signal, { environment: marker });
    else if (evidence !== "cgroup" || inside.has(identity.pid)) observer.signal(identity, signal);
  }
}

/** SIGKILL to everything, in single steps where the kernel has them, so that what forks faster than it is found ends as well. */
export function killAll(deps: SignalDeps, found: Found): void {
  const { cgroup } = deps;
  if (cgroup && mayKillWhole(deps, cgroup, found)) cgroup.kill();
  if (deps.observer.capabilities().boundGroupSignals) killGroups(found);
  signalEach(deps, found.targets, "SIGKILL");
}

/** Never with somebody inside who is to live: a group below, the caller, a kept or spared program, also one that came since the look. */
function mayKillWhole(deps: SignalDeps, cgroup: Cgroup, { targets, kept, table }: Found): boolean {
  const { keep, spare, ports = systemPorts } = deps;
  const listed = cgroup.members();
  if (listed.kind !== "listed" || cgroup.hasPopulatedSubgroups) return false;
  const ours = new Set(targets.map(({ identity }) => identity.pid));
  const others = new Set(kept.map(({ identity }) => identity.pid));
  return listed.pids.every((pid) => {
    if (ours.has(pid)) return true;
    if (pid === ports.pid || others.has(pid) || table.rows.has(pid)) return false;
    const stat = statIn(() => ports.readFile(`/proc/${pid}/stat`));
    // It has ended since.
    if (stat === null) return true;
    const identity = { ...table.host, pid, startTicks: stat.startTicks, pidfsInode: null };
    return !isKept(stat.command, keep) && !(spare?.({ identity, command: stat.command }) ?? false);
  });
}

/** Groups that a held member leads and in which nobody else is: the kernel reaches all of one in a single step. */
function killGroups({ targets, table }: Found): void {
  const ours = new Set(targets.map(({ identity }) => identity.pid));
  const running = [...table.rows.values()].filter(({ stat }) => !isDefunct(stat));
  const shared = new Set(running.filter(({ stat }) => !ours.has(stat.pid)).map(({ stat }) => stat.pgrp));
  for (const { identity, group, handle } of targets) {
    if (group === identity.pid && !shared.has(group)) handle?.signalGroup("SIGKILL");
  }
}
