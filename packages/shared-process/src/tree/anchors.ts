import { statIn } from "../observe/rules.ts";
import type { ProcessPorts } from "../ports.ts";
import type { Verdict } from "../types.ts";
import type { Member, Members } from "./members.ts";
import type { Rows } from "./table.ts";

/** The process that the caller named: of its group that is the tree's as well as its session. */
export interface Root {
  readonly pid: number;
  readonly startTicks: string | null;
  verdict(): Verdict;
  /** See `ProcessHandle`. */
  holdsNumber(): boolean;
}

const kinds = ["session", "group"] as const;
type Kind = (typeof kinds)[number];
const fieldOf = { session: "session", group: "pgrp" } as const;

/**
 * Sessions and groups whose number is certain to be the tree's: while any process is in one, the kernel gives its number to no other, so
 * the end of its leader changes nothing as long as a member that was in it all along still is (I96, I97).
 */
export class Anchors {
  readonly #ports: ProcessPorts;
  readonly #members: Members;
  readonly #root: Root | null;
  readonly #holders: Record<Kind, Map<number, readonly Member[]>> = { session: new Map(), group: new Map() };
  /** The caller's, which are never taken for the tree's. */
  readonly #own: Record<Kind, number | null> = { session: null, group: null };

  constructor(ports: ProcessPorts, members: Members, root: Root | null) {
    this.#ports = ports;
    this.#members = members;
    this.#root = root;
  }

  numbers(kind: Kind): ReadonlySet<number> {
    return new Set(this.#holders[kind].keys());
  }

  /** After the members were pruned, which came after the table was read: so the rows of those that are left are theirs. */
  refresh(rows: Rows, isRootOurs: boolean): void {
    for (const kind of kinds) {
      const field = fieldOf[kind];
      this.#own[kind] = rows.get(this.#ports.pid)?.stat[field] ?? null;
      const holders = this.#holders[kind];
      for (const [number, before] of holders) {
        const now = this.#members.all().filter(({ identity }) => rows.get(identity.pid)?.stat[field] === number);
        if (this.#hasLeader(number) || now.some((member) => before.includes(member))) holders.set(number, now);
        else holders.delete(number);
      }
      const root = this.#root;
      if (root === null) continue;
      const row = rows.get(root.pid);
      // Of one that has ended, whoever is in its session or group is proposed; a handle that has held it since can prove them.
      const leads = row === undefined ? isFree(root.verdict()) : isRootOurs && row.stat[field] === root.pid;
      if (leads) this.#begin(kind, root.pid);
    }
  }

  /** Those that were proven since. */
  join(added: readonly Member[]): void {
    for (const member of added) if (member.session === member.identity.pid) this.#begin("session", member.session);
    for (const kind of kinds) {
      for (const member of added) {
        const number = member[kind];
        const before = this.#holders[kind].get(number);
        if (before !== undefined && this.isHeld(kind, number)) this.#holders[kind].set(number, [...before, member]);
      }
    }
  }

  /** Asked after a process was seen in it: whoever holds the number now held it then. */
  isHeld(kind: Kind, number: number): boolean {
    if (this.#hasLeader(number)) return true;
    const field = fieldOf[kind];
    return (this.#holders[kind].get(number) ?? []).some((member) => {
      const stat = statIn(() => this.#ports.readFile(`/proc/${member.identity.pid}/stat`));
      return stat?.[field] === number && this.#members.hasNumber(member);
    });
  }

  #begin(kind: Kind, number: number): void {
    if (number !== this.#own[kind] && !this.#holders[kind].has(number)) this.#holders[kind].set(number, []);
  }

  #hasLeader(number: number): boolean {
    const member = this.#members.get(number);
    if (member !== undefined && this.#members.hasNumber(member)) return true;
    return this.#root?.pid === number && this.#root.holdsNumber();
  }
}

const isFree = (verdict: Verdict): boolean => verdict.kind === "gone" && verdict.why === "no-such-pid";
