import type { Cgroup } from "../cgroup/cgroup.ts";
import { startIdOf } from "../identity.ts";
import { searchEnvironment } from "../observe/environment.ts";
import { statIn } from "../observe/rules.ts";
import type { ProcessPorts } from "../ports.ts";
import type { ProcessStat } from "../stat.ts";
import type { Marker, ProcessHandle, ProcessIdentity, ProcessObserver, UnknownWhy } from "../types.ts";
import type { Anchors, Root } from "./anchors.ts";
import type { Member, Members } from "./members.ts";
import type { Evidence, Reach } from "./reach.ts";
import type { Table } from "./table.ts";

/** One that seemed to belong to the tree, runs, and could not be proven to: it is never signalled. */
export interface UnprovenProcess {
  readonly identity: ProcessIdentity;
  readonly command: string;
  /** `evidence-lost`: at the second look, with the process held, it stood no more, as when its parent has just ended. */
  readonly why: UnknownWhy | "evidence-lost";
}

export interface ProveDeps {
  readonly ports: ProcessPorts;
  readonly observer: ProcessObserver;
  readonly marker: Marker | undefined;
  readonly cgroup: Cgroup | null;
  readonly root: Root | null;
  readonly members: Members;
  readonly anchors: Anchors;
}

/** For what a fork bomb leaves unproven; nobody reads more of them. */
const MAX_UNPROVEN = 256;

type Certain = Exclude<Evidence, { kind: "known" }>;

interface Candidate {
  readonly identity: ProcessIdentity;
  readonly command: string;
  readonly evidence: Certain;
  readonly handle: ProcessHandle | null;
}

/**
 * Takes hold of what a table proposes and looks at the evidence again: what is read by number while a process is held is that process's
 * own if it is still there after, whoever had the number when the table was read (I131).
 */
export class Prover {
  readonly #deps: ProveDeps;
  readonly #unproven = new Map<string, UnprovenProcess>();

  constructor(deps: ProveDeps) {
    this.#deps = deps;
  }

  get unproven(): UnprovenProcess[] {
    const isThere = ({ identity }: UnprovenProcess): boolean =>
      ["current", "unknown"].includes(this.#deps.observer.verdict(identity).kind);
    return [...this.#unproven.values()].filter(isThere);
  }

  note(process: UnprovenProcess): void {
    if (this.#unproven.size < MAX_UNPROVEN) this.#unproven.set(startIdOf(process.identity), process);
  }

  /** Adds the targets that are proven to the members, and gives those that are kept. */
  prove({ targets, kept }: Reach, table: Table): readonly Member[] {
    const { members, anchors } = this.#deps;
    anchors.join(this.#proveAll(targets, table, (member) => members.add(member)));
    const known = [...kept.keys()].flatMap((pid) => members.get(pid) ?? []);
    return [...known, ...this.#proveAll(kept, table, null)];
  }

  /** All are held before the first is looked at, so that one look into the cgroup serves them all. */
  #proveAll(found: Reach["targets"], table: Table, add: ((member: Member) => void) | null): Member[] {
    const candidates = [...found].flatMap(([pid, evidence]) => {
      const stat = table.rows.get(pid)?.stat;
      if (evidence.kind === "known" || stat === undefined) return [];
      return this.#take({ ...table.host, pid, startTicks: stat.startTicks, pidfsInode: null }, stat.command, {
        evidence,
        hold: add !== null,
      });
    });
    const listed = this.#deps.cgroup?.members();
    const inside = new Set(listed?.kind === "listed" ? listed.pids : []);
    return candidates.flatMap((candidate) => {
      const member = this.#settle(candidate, inside);
      if (member === null) this.#deps.members.release(candidate.handle);
      else add?.(member);
      return member ?? [];
    });
  }

  #take(
    row: ProcessIdentity,
    command: string,
    { evidence, hold }: { readonly evidence: Certain; readonly hold: boolean },
  ): Candidate[] {
    const seen = this.#deps.observer.identify(row.pid);
    if (seen.kind === "unknown") this.note({ identity: row, command, why: seen.why });
    // Whoever has the number now is another one: if it belongs to the tree, the next table shows it.
    if (seen.kind !== "identified" || seen.identity.startTicks !== row.startTicks) return [];
    const { identity } = seen;
    const held = hold ? this.#deps.members.hold(identity) : null;
    if (held === null || held.kind === "opened") return [{ identity, command, evidence, handle: held?.handle ?? null }];
    if (held.kind === "unknown") this.note({ identity, command, why: held.why });
    return [];
  }

  #settle({ identity, command, evidence, handle }: Candidate, inside: ReadonlySet<number>): Member | null {
    const { ports, members } = this.#deps;
    const stat = statIn(() => ports.readFile(`/proc/${identity.pid}/stat`));
    const stands = stat !== null && this.#stands(evidence, stat, inside);
    const [session, group] = [stat?.session ?? 0, stat?.pgrp ?? 0];
    const member: Member = { identity, command, evidence: evidence.kind, session, group, handle };
    const verdict = members.verdictOf(member);
    if (verdict.kind === "gone" || verdict.kind === "replaced") return null;
    if (verdict.kind === "current" && stands) {
      this.#unproven.delete(startIdOf(identity));
      return member;
    }
    this.note({ identity, command, why: verdict.kind === "unknown" ? verdict.why : "evidence-lost" });
    return null;
  }

  #stands(evidence: Certain, stat: ProcessStat, inside: ReadonlySet<number>): boolean {
    const { ports, marker, root, members, anchors } = this.#deps;
    switch (evidence.kind) {
      case "root":
        return root?.verdict().kind === "current";
      case "marker":
        return marker !== undefined && searchEnvironment(ports, stat.pid, marker) === "found";
      case "cgroup":
        return inside.has(stat.pid);
      case "descent": {
        const parent = members.get(stat.ppid);
        return stat.ppid === evidence.parent && (stat.ppid === ports.pid || (!!parent && members.hasNumber(parent)));
      }
      case "session":
        return stat.session === evidence.leader && anchors.isHeld("session", stat.session);
      case "group":
        return stat.pgrp === evidence.leader && anchors.isHeld("group", stat.pgrp);
    }
  }
}
