import type { Cgroup, CgroupMembers } from "../cgroup/cgroup.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import type { Marker, ProcessHandle, ProcessIdentity, ProcessObserver, Verdict } from "../types.ts";
import type { Spare } from "./ancestry.ts";
import { Anchors, type Root } from "./anchors.ts";
import { isProcessIdentity } from "../identity.ts";
import { keepsNumber, statIn } from "../observe/rules.ts";
import { isKept } from "./keep.ts";
import { MAX_HANDLES, type Member, Members, type TreeProcess } from "./members.ts";
import { Prover, type UnprovenProcess } from "./prove.ts";
import { type Evidence, reach } from "./reach.ts";
import { readTable, type Row, type Table } from "./table.ts";

/** By what a tree is known; at least one of the first three. */
export interface TreeOptions {
  /**
   * Whoever descends from it, or is in the session or group that it leads. Once it is reaped, who is in those that it led is proven by a
   * handle opened before, as long as somebody is in the group (see `holdsNumber`); otherwise they are reported as unproven.
   */
  readonly root?: ProcessIdentity | ProcessHandle;
  /** Whoever has it in the environment with which it was started. */
  readonly marker?: Marker;
  /** Whoever is in it; groups below are others'. */
  readonly cgroup?: Cgroup | null;
  /** Found by an earlier look, since when their parents may have ended: their identity is the proof. */
  readonly known?: readonly TreeProcess[];
  /** Processes of others, with everything below them: no members, by whatever evidence, and not listed. */
  readonly spare?: Spare;
  /** By default one for all calls without. */
  readonly observer?: ProcessObserver;
  readonly ports?: ProcessPorts;
}

interface Kept extends TreeOptions {
  readonly observer: ProcessObserver;
  readonly keep: readonly string[];
  /** Whoever only looks needs no handle, and so no library. */
  readonly mostHandles?: number;
}

export interface Found {
  readonly kind: "complete" | "incomplete";
  readonly problem: string | null;
  readonly table: Table;
  readonly targets: readonly Member[];
  readonly kept: readonly Member[];
  /** The group had a member that the table does not know: it was forked while the table was read, or is hidden. */
  readonly isBehind: boolean;
}

/** The members of a tree as they become known, each held once it is proven to be one. */
export class Tree implements Disposable {
  readonly #options: Kept;
  readonly #ports: ProcessPorts;
  readonly #root: Root | null;
  readonly #anchors: Anchors;
  readonly #prover: Prover;
  readonly members: Members;

  constructor(options: Kept) {
    const { observer, marker, cgroup = null, ports = systemPorts } = options;
    this.#options = options;
    this.#ports = ports;
    this.#root = options.root === undefined ? null : rootOf(options.root, observer);
    this.members = new Members(observer, options.mostHandles ?? MAX_HANDLES);
    this.#anchors = new Anchors(ports, this.members, this.#root);
    const { members } = this;
    this.#prover = new Prover({ ports, observer, marker, cgroup, root: this.#root, members, anchors: this.#anchors });
    this.#anchors.join((options.known ?? []).flatMap((one) => this.#recall(one) ?? []));
  }

  /** What is read by number is its own if it is there after. */
  #recall({ identity, command, evidence }: TreeProcess): Member | null {
    const held = this.members.hold(identity);
    if (held.kind === "unknown") this.#prover.note({ identity, command, why: held.why });
    if (held.kind !== "opened") return null;
    const { handle } = held;
    const stat = statIn(() => this.#ports.readFile(`/proc/${identity.pid}/stat`));
    const member = { identity, command, evidence, session: stat?.session ?? 0, group: stat?.pgrp ?? 0, handle };
    const verdict = this.members.verdictOf(member);
    if (verdict.kind === "current" && stat !== null) {
      this.members.add(member);
      return member;
    }
    this.members.release(handle);
    const isThere = verdict.kind === "current" || verdict.kind === "unknown";
    if (isThere)
      this.#prover.note({ identity, command, why: verdict.kind === "unknown" ? verdict.why : "evidence-lost" });
    return null;
  }

  get unproven(): readonly UnprovenProcess[] {
    return this.#prover.unproven;
  }

  /** One pass over all processes: reads, takes hold of what is new, and proves it. */
  look(): Found {
    const { marker, cgroup, keep, spare } = this.#options;
    const table = readTable(this.#ports, marker);
    const listed = cgroup?.members();
    const inside = listed?.kind === "listed" ? listed.pids : [];
    this.members.prune();
    // Asked once for each look: the answer may take a look at what the process has open.
    const spared = new Map<number, boolean>();
    const isSpared = ({ stat }: Row): boolean => {
      const { pid, startTicks, command } = stat;
      const identity = { ...table.host, pid, startTicks, pidfsInode: null };
      const answer = spared.get(pid) ?? spare?.({ identity, command }) ?? false;
      spared.set(pid, answer);
      return answer;
    };
    const isKeptRow = ({ stat }: Row): boolean => isKept(stat.command, keep);
    const rootVerdict = this.#root?.verdict();
    const rootRow = this.#rootRow(table, rootVerdict);
    this.#anchors.refresh(table.rows, rootRow !== null && !isSpared(rootRow) && !isKeptRow(rootRow));
    const found = reach({
      rows: table.rows,
      self: this.#ports.pid,
      seeds: this.#seeds(table, inside, rootRow),
      sessions: this.#anchors.numbers("session"),
      groups: this.#anchors.numbers("group"),
      isSpared,
      isKept: isKeptRow,
    });
    const kept = this.#prover.prove(found, table);
    // It may run, with all that descends from it (I134).
    const whyRoot = rootVerdict?.kind === "unknown" ? `the root: ${rootVerdict.why}` : null;
    const problem = whyHidden(listed, table) ?? table.problem ?? whyRoot;
    return {
      kind: problem === null ? "complete" : "incomplete",
      problem,
      table,
      targets: [...found.targets.keys()].flatMap((pid) => this.members.get(pid) ?? []),
      kept,
      isBehind: inside.some((pid) => !table.rows.has(pid)),
    };
  }

  [Symbol.dispose](): void {
    this.members[Symbol.dispose]();
  }

  /** The row of the root, if it is the root's own, be it as a zombie. */
  #rootRow({ rows }: Table, verdict: Verdict | undefined): Row | null {
    const root = this.#root;
    const row = root === null ? undefined : rows.get(root.pid);
    if (root === null || row === undefined || verdict === undefined) return null;
    const isOwn = root.startTicks === null ? verdict.kind === "current" : row.stat.startTicks === root.startTicks;
    return isOwn && keepsNumber(verdict) ? row : null;
  }

  /** The first evidence counts: what a process carries with it can be looked at again at any time. */
  #seeds({ rows }: Table, inside: readonly number[], rootRow: Row | null): Map<number, Evidence> {
    const seeds = new Map<number, Evidence>();
    const add = (pid: number, kind: "known" | "root" | "marker" | "cgroup"): void => {
      if (!seeds.has(pid)) seeds.set(pid, { kind });
    };
    for (const { identity } of this.members.all()) add(identity.pid, "known");
    for (const [pid, { marked }] of rows) if (marked) add(pid, "marker");
    for (const pid of inside) add(pid, "cgroup");
    if (rootRow !== null) add(rootRow.stat.pid, "root");
    return seeds;
  }
}

/** Why the cgroup has, or may have, members that nobody can be shown or signal. */
function whyHidden(listed: CgroupMembers | undefined, { rows }: Table): string | null {
  if (listed?.kind === "unreadable") return listed.reason;
  if (listed?.kind !== "listed") return null;
  if (listed.foreign > 0) return `${listed.foreign} in the cgroup have no number in this pid namespace`;
  // Forked while the table was read, or hidden, as by the mount option hidepid.
  const hidden = listed.pids.find((pid) => !rows.has(pid));
  return hidden === undefined ? null : `process ${hidden} is in the cgroup and was not seen`;
}

function rootOf(root: ProcessIdentity | ProcessHandle, observer: ProcessObserver): Root {
  if (isHandle(root)) {
    const { pid, startTicks } = root.identity;
    return { pid, startTicks, verdict: () => root.verdict(), holdsNumber: () => root.holdsNumber() };
  }
  // A damaged record has no number, and every observer says that it is unknown.
  const { pid, startTicks } = isProcessIdentity(root) ? root : { pid: 0, startTicks: null };
  const verdict = (): Verdict => observer.verdict(root);
  return { pid, startTicks, verdict, holdsNumber: () => keepsNumber(verdict()) };
}

const isHandle = (root: ProcessIdentity | ProcessHandle): root is ProcessHandle =>
  typeof root === "object" && root !== null && "signal" in root;
