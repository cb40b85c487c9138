import { errnoOf, reasonOf } from "../errors.ts";
import { isPid } from "../observe/observe.ts";
import type { Clock } from "../types.ts";
import type { CgroupPorts } from "./ports.ts";

export type CgroupMembers =
  | {
      readonly kind: "listed";
      readonly pids: readonly number[];
      /** How many more there are that have no number here, because they run in another pid namespace. */
      readonly foreign: number;
    }
  | { readonly kind: "gone" }
  | { readonly kind: "unreadable"; readonly reason: string };

export type CgroupChange = { readonly kind: "done" } | { readonly kind: "failed"; readonly reason: string };

export type CgroupRemoval =
  | { readonly kind: "removed" }
  /** It, or a group below it, has members. */
  | { readonly kind: "in-use" }
  | { readonly kind: "failed"; readonly reason: string };

/** `cgroup.events` tells at once where it can be watched; this is for where it cannot. */
const POLL_MS = 100;

/**
 * A cgroup v2 of our own: everything that a member forks is a member, whatever it does with its environment, its session and its
 * parents. Only a process with permission to write there can leave it. Made by `makeCgroup` or found again by `openCgroup`.
 */
export class Cgroup {
  readonly path: string;
  readonly #ports: CgroupPorts;

  constructor(path: string, ports: CgroupPorts) {
    this.path = path;
    this.#ports = ports;
  }

  /**
   * Puts a process in. Only for an own child in the turn of its spawn: until Node has had a turn to reap it, the number cannot be
   * another's. The kernel takes 0.5 to 10 ms for it.
   */
  add(pid: number): CgroupChange {
    if (!isPid(pid)) return { kind: "failed", reason: "no process has that number" };
    return this.#write("cgroup.procs", String(pid));
  }

  /** Direct members only, as numbers of this moment: they say nothing of whoever has them later. */
  members(): CgroupMembers {
    try {
      const lines = this.#ports.readFile(`${this.path}/cgroup.procs`).split("\n").filter(Boolean);
      const pids = lines.map(Number).filter(isPid);
      // Members of other pid namespaces read as 0 (cgroups(7)).
      return { kind: "listed", pids, foreign: lines.length - pids.length };
    } catch (error) {
      if (isGone(error)) return { kind: "gone" };
      return { kind: "unreadable", reason: reasonOf(error) };
    }
  }

  /** Whether a group below this one has members, as far as can be told; what cannot be told counts as yes. */
  get hasPopulatedSubgroups(): boolean {
    try {
      const names = this.#ports.listDirectories(this.path);
      return names.some((name) => isPopulated(this.#ports, `${this.path}/${name}`));
    } catch (error) {
      return !isGone(error);
    }
  }

  /** SIGKILL to all members and to those of groups below, in one step that no fork escapes (Linux 5.14). */
  kill(): CgroupChange {
    return this.#write("cgroup.kill", "1");
  }

  /** Resolves with true as soon as neither it nor a group below has a member that runs, with false when the time is over. */
  whenEmpty({ clock, withinMs }: { readonly clock: Clock; readonly withinMs: number }): Promise<boolean> {
    const until = clock.monotonic() + withinMs;
    return new Promise((resolve) => {
      let timer: Disposable | null = null;
      const look = (): void => {
        timer?.[Symbol.dispose]();
        const isEmpty = !isPopulated(this.#ports, this.path);
        const leftMs = until - clock.monotonic();
        if (!isEmpty && leftMs > 0) {
          timer = clock.setTimer(Math.min(POLL_MS, leftMs), look);
          return;
        }
        watch[Symbol.dispose]();
        resolve(isEmpty);
      };
      const watch = this.#watch(look);
      look();
    });
  }

  /** Refused by the kernel while somebody is in it; zombies do not count. Empty groups that members made below it go with it. */
  remove(): CgroupRemoval {
    const removal = this.#removeItself();
    if (removal.kind !== "in-use" || isPopulated(this.#ports, this.path)) return removal;
    try {
      const names = this.#ports.listDirectories(this.path);
      if (names.length === 0) return removal;
      for (const name of names) new Cgroup(`${this.path}/${name}`, this.#ports).remove();
    } catch (error) {
      return { kind: "failed", reason: reasonOf(error) };
    }
    return this.#removeItself();
  }

  #removeItself(): CgroupRemoval {
    try {
      this.#ports.removeDirectory(this.path);
      return { kind: "removed" };
    } catch (error) {
      if (isGone(error)) return { kind: "removed" };
      return errnoOf(error) === "EBUSY" ? { kind: "in-use" } : { kind: "failed", reason: reasonOf(error) };
    }
  }

  #watch(changed: () => void): Disposable {
    try {
      return this.#ports.watch(`${this.path}/cgroup.events`, changed);
    } catch {
      // No watch is left, or the group is gone: the looks from time to time find out.
      return { [Symbol.dispose]: () => undefined };
    }
  }

  #write(file: string, text: string): CgroupChange {
    try {
      this.#ports.writeFile(`${this.path}/${file}`, text);
      return { kind: "done" };
    } catch (error) {
      return { kind: "failed", reason: reasonOf(error) };
    }
  }
}

/** ENODEV: removed while its file was open. */
export const isGone = (error: unknown): boolean => ["ENOENT", "ENODEV"].includes(errnoOf(error) ?? "");

/** With everything below it. What cannot be read counts as populated, and what is gone does not. */
function isPopulated(ports: CgroupPorts, path: string): boolean {
  try {
    return !/^populated 0$/m.test(ports.readFile(`${path}/cgroup.events`));
  } catch (error) {
    return !isGone(error);
  }
}
