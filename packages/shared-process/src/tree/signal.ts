import type { Cgroup } from "../cgroup/cgroup.ts";
import { statIn } from "../observe/rules.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import { isDefunct, type ProcessStat } from "../stat.ts";
import type { Marker, ProcessObserver, Signal } from "../types.ts";
import type { Spare } from "./ancestry.ts";
import { isKept } from "./keep.ts";
import type { Member } from "./members.ts";
import { readTable, type Row, type Table } from "./table.ts";
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
  if (deps.observer.capabilities().boundGroupSignals) killGroups(deps, found);
  signalEach(deps, found.targets, "SIGKILL");
}

/**
 * Never with somebody inside who is to live: a group below, the caller, a kept or spared program, also one that came since the look.
 * Nor with one that cannot be looked at.
 */
function mayKillWhole(deps: SignalDeps, cgroup: Cgroup, { targets, table }: Found): boolean {
  const { ports = systemPorts } = deps;
  const listed = cgroup.members();
  if (listed.kind !== "listed" || listed.foreign > 0 || cgroup.hasPopulatedSubgroups) return false;
  const ours = new Set(targets.map(({ identity }) => identity.pid));
  const unseen: number[] = [];
  for (const pid of listed.pids) {
    if (ours.has(pid)) continue;
    const stat = statIn(() => ports.readFile(`/proc/${pid}/stat`));
    if (stat === null) unseen.push(pid);
    else if (isToLive(deps, table, stat)) return false;
  }
  if (unseen.length === 0) return true;
  // Those that have ended since are in it no more; one that still is cannot be looked at.
  const again = cgroup.members();
  return again.kind === "listed" && again.foreign === 0 && !again.pids.some((pid) => unseen.includes(pid));
}

/** Of one that is no target. Whoever came since the look was forked by a target, unless it is one that is let live wherever it is. */
function isToLive({ keep, spare, ports = systemPorts }: SignalDeps, table: Table, stat: ProcessStat): boolean {
  const { pid, startTicks, command } = stat;
  if (pid === ports.pid || table.rows.has(pid) || isKept(command, keep)) return true;
  return spare?.({ identity: { ...table.host, pid, startTicks, pidfsInode: null }, command }) ?? false;
}

/** Groups that a held member leads and in which, by a new look, nobody is who is to live: the kernel reaches all of one in one step. */
function killGroups(deps: SignalDeps, { targets, table }: Found): void {
  const led = targets.filter(({ identity, group, handle }) => handle !== null && group === identity.pid);
  if (led.length === 0) return;
  const now = readTable(deps.ports ?? systemPorts, undefined);
  // Without a look at everybody each is signalled on its own.
  if (now.kind === "incomplete") return;
  const ours = new Set(targets.map(({ identity }) => identity.pid));
  const isOther = ({ stat }: Row): boolean => !ours.has(stat.pid) && !isDefunct(stat);
  const others = [...now.rows.values()].filter(isOther).map(({ stat }) => stat);
  for (const { group, handle } of led) {
    const isShared = others.some((stat) => stat.pgrp === group && isToLive(deps, table, stat));
    if (!isShared) handle?.signalGroup("SIGKILL");
  }
}
