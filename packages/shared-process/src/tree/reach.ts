import { isDefunct } from "../stat.ts";
import type { Row, Rows } from "./table.ts";

/** Why a process is taken for a member of the tree. */
export type Evidence =
  /** It was proven to be one before, and still has its number. */
  | { readonly kind: "known" }
  | { readonly kind: "root" }
  | { readonly kind: "marker" }
  | { readonly kind: "cgroup" }
  | { readonly kind: "descent"; readonly parent: number }
  | { readonly kind: "session" | "group"; readonly leader: number };

export interface ReachInput {
  readonly rows: Rows;
  /** The caller: never a member, and nothing is reached through it unless it is the root. */
  readonly self: number;
  /** Those with evidence of their own. */
  readonly seeds: ReadonlyMap<number, Evidence>;
  /** Sessions and groups whose number is certain to be the tree's. */
  readonly sessions: ReadonlySet<number>;
  readonly groups: ReadonlySet<number>;
  readonly isSpared: (row: Row) => boolean;
  readonly isKept: (row: Row) => boolean;
}

export interface Reach {
  /** Parents before their children. */
  readonly targets: ReadonlyMap<number, Evidence>;
  /** Programs that are meant to outlive the tree, and what runs below them. */
  readonly kept: ReadonlyMap<number, Evidence>;
}

/**
 * Pure: who seems to belong to the tree by what was read. What is spared is no member, nor is anything below it; from what is kept nothing
 * is derived. Both are found on the way, so it begins anew with each find until there is none.
 */
export function reach(input: ReachInput): Reach {
  const { rows, self, isSpared, isKept } = input;
  const spared = new Set<number>();
  const kept = new Set<number>();
  for (;;) {
    const found = spread(input, (pid) => isAtOrBelow(rows, pid, spared) || isAtOrBelow(rows, pid, kept));
    const stops = [...found.keys()].filter((pid) => pid !== self && !spared.has(pid) && !kept.has(pid));
    const known = spared.size + kept.size;
    for (const pid of stops) {
      const row = rows.get(pid);
      if (row === undefined) continue;
      if (isSpared(row)) spared.add(pid);
      else if (isKept(row)) kept.add(pid);
    }
    if (spared.size + kept.size > known) continue;
    found.delete(self);
    const own = [...found].filter(([pid]) => !isAtOrBelow(rows, pid, spared));
    return {
      targets: new Map(own.filter(([pid]) => !isAtOrBelow(rows, pid, kept))),
      kept: new Map(own.filter(([pid]) => isAtOrBelow(rows, pid, kept))),
    };
  }
}

function spread(input: ReachInput, isStop: (pid: number) => boolean): Map<number, Evidence> {
  const { rows, self, seeds, sessions, groups } = input;
  const found = new Map<number, Evidence>();
  const add = (pid: number, evidence: Evidence): void => {
    const row = rows.get(pid);
    if (row === undefined || pid <= 1 || found.has(pid) || isDefunct(row.stat)) return;
    if (pid !== self || evidence.kind === "root") found.set(pid, evidence);
  };
  const children = numbersBy(rows, ({ stat }) => stat.ppid);
  const inSession = numbersBy(rows, ({ stat }) => stat.session);
  const inGroup = numbersBy(rows, ({ stat }) => stat.pgrp);
  for (const [pid, evidence] of seeds) add(pid, evidence);
  for (const leader of sessions) for (const pid of inSession.get(leader) ?? []) add(pid, { kind: "session", leader });
  for (const leader of groups) for (const pid of inGroup.get(leader) ?? []) add(pid, { kind: "group", leader });
  // A map hands out what is added while it is walked, so this reaches all generations.
  for (const pid of found.keys()) {
    if (isStop(pid)) continue;
    for (const child of children.get(pid) ?? []) add(child, { kind: "descent", parent: pid });
    // Whoever is in a session that a member leads was forked there, after it; of a group that need not be so.
    if (pid !== rows.get(self)?.stat.session)
      for (const other of inSession.get(pid) ?? []) add(other, { kind: "session", leader: pid });
  }
  return found;
}

function numbersBy(rows: Rows, key: (row: Row) => number): Map<number, number[]> {
  const numbers = new Map<number, number[]>();
  for (const [pid, row] of rows) {
    const one = numbers.get(key(row));
    if (one === undefined) numbers.set(key(row), [pid]);
    else one.push(pid);
  }
  return numbers;
}

function isAtOrBelow(rows: Rows, pid: number, above: ReadonlySet<number>): boolean {
  if (above.size === 0) return false;
  const visited = new Set<number>();
  for (let at = pid; at > 0; at = rows.get(at)?.stat.ppid ?? 0) {
    if (above.has(at)) return true;
    // Parents are read at different moments, so with recycled numbers they can form a ring.
    if (visited.has(at)) return false;
    visited.add(at);
  }
  return false;
}
