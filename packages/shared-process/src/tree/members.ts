import type { OpenResult, ProcessHandle, ProcessIdentity, ProcessObserver, Verdict } from "../types.ts";
import { keepsNumber } from "../observe/rules.ts";
import type { Evidence } from "./reach.ts";

/** A process that was proven to belong to the tree. From then on its identity is the proof, whatever becomes of its parents. */
export interface Member {
  readonly identity: ProcessIdentity;
  readonly command: string;
  readonly evidence: Exclude<Evidence["kind"], "known">;
  /** In which it was when it was proven. */
  readonly session: number;
  readonly group: number;
  /** `null` when there are too many to hold them all. */
  readonly handle: ProcessHandle | null;
}

export interface TreeProcess {
  readonly identity: ProcessIdentity;
  readonly command: string;
  /** What proved that it is of the tree. */
  readonly evidence: Member["evidence"];
}

export const treeProcess = ({ identity, command, evidence }: Member): TreeProcess => ({ identity, command, evidence });

/** A handle is a descriptor, and a quarter of the usual 1,024 leaves enough for everything else that the caller does. */
export const MAX_HANDLES = 256;

export type Held =
  | { readonly kind: "opened"; readonly handle: ProcessHandle | null }
  | Extract<OpenResult, { kind: "gone" | "replaced" | "unknown" }>;

/** All that have been proven and still have their number, zombies too: until one is reaped, its number is nobody else's. */
export class Members implements Disposable {
  readonly #observer: ProcessObserver;
  readonly #byPid = new Map<number, Member>();
  readonly #mostHandles: number;
  #handles = 0;

  constructor(observer: ProcessObserver, mostHandles: number) {
    this.#observer = observer;
    this.#mostHandles = mostHandles;
  }

  get(pid: number): Member | undefined {
    return this.#byPid.get(pid);
  }

  all(): readonly Member[] {
    return [...this.#byPid.values()];
  }

  /** Takes hold of a process; without a handle when there are too many, or no descriptor is left. To be released or added. */
  hold(identity: ProcessIdentity): Held {
    if (this.#handles >= this.#mostHandles) return { kind: "opened", handle: null };
    const opened = this.#observer.open(identity);
    if (opened.kind === "opened") this.#handles += 1;
    const isExhausted = opened.kind === "unknown" && opened.why === "descriptors-exhausted";
    return isExhausted ? { kind: "opened", handle: null } : opened;
  }

  release(handle: ProcessHandle | null): void {
    if (handle === null) return;
    handle[Symbol.dispose]();
    this.#handles -= 1;
  }

  add(member: Member): void {
    this.release(this.#byPid.get(member.identity.pid)?.handle ?? null);
    this.#byPid.set(member.identity.pid, member);
  }

  verdictOf({ handle, identity }: Pick<Member, "handle" | "identity">): Verdict {
    return handle === null ? this.#observer.verdict(identity) : handle.verdict();
  }

  isThere(member: Member): boolean {
    const { kind } = this.verdictOf(member);
    return kind === "current" || kind === "unknown";
  }

  /** Whether its number is its own: it runs, or nobody has waited for it yet (I97). */
  hasNumber(member: Member): boolean {
    return keepsNumber(this.verdictOf(member));
  }

  /** Lets go of those whose number is free. */
  prune(): void {
    for (const [pid, member] of this.#byPid) {
      const verdict = this.verdictOf(member);
      if (verdict.kind === "unknown" || keepsNumber(verdict)) continue;
      this.#byPid.delete(pid);
      this.release(member.handle);
    }
  }

  [Symbol.dispose](): void {
    for (const { handle } of this.#byPid.values()) this.release(handle);
    this.#byPid.clear();
  }
}
