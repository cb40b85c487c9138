import { dirname } from "node:path/posix";
import type { CgroupPorts } from "../cgroup/ports.ts";
import type { FakeProcessTable } from "./fake-process-table.ts";
import { systemError } from "./system-error.ts";

/** Where the made-up machine has mounted cgroup v2. */
const MOUNT = "/sys/fs/cgroup";

/** The cgroup v2 file system of a made-up machine: who is in which group stands in its process table. */
export class FakeCgroups implements CgroupPorts {
  /** Errno that calls on a path give: `mkdir /sys/fs/cgroup/x`, `read …`, `write …`, `check …`, `rmdir …`, `watch …`. */
  readonly fails = new Map<string, string>();
  /** By group, how many members it has in other pid namespaces. */
  readonly foreign = new Map<string, number>();
  readonly #table: FakeProcessTable;
  readonly #groups = new Set<string>([MOUNT]);
  readonly #watches = new Set<{ readonly path: string; readonly changed: () => void }>();

  constructor(table: FakeProcessTable) {
    this.#table = table;
    table.files.set("/proc/self/cgroup", "4:memory:/elsewhere\n0::/\n");
    table.files.set("/proc/self/mountinfo", `30 22 0:27 / ${MOUNT} rw shared:9 - cgroup2 cgroup2 rw\n`);
  }

  get groups(): readonly string[] {
    return [...this.#groups].filter((path) => path !== MOUNT);
  }

  get watchCount(): number {
    return this.#watches.size;
  }

  readFile(path: string): string {
    this.#enter("read", path);
    if (path.startsWith("/proc/")) return this.#table.readFile(path);
    const group = this.#groupOf(path);
    switch (path.slice(group.length + 1)) {
      case "cgroup.procs":
        return [...Array.from({ length: this.foreign.get(group) ?? 0 }, () => 0), ...this.#table.membersOf(group)]
          .map((pid) => `${pid}\n`)
          .join("");
      case "cgroup.events":
        return `populated ${this.#isPopulated(group) ? 1 : 0}\nfrozen 0\n`;
      default:
        throw systemError("ENOENT");
    }
  }

  writeFile(path: string, text: string): void {
    this.#enter("write", path);
    const group = this.#groupOf(path);
    if (path.endsWith("/cgroup.procs")) this.#table.change(Number(text) || this.#table.pid, { cgroup: group });
    else {
      this.#table.killAtOnce(this.#below(group));
      for (const inside of this.#inside(group)) this.foreign.delete(inside);
    }
    this.changed();
  }

  checkWritable(path: string): void {
    this.#enter("check", path);
    this.#groupOf(path);
  }

  makeDirectory(path: string): void {
    this.#enter("mkdir", path);
    if (this.#groups.has(path)) throw systemError("EEXIST");
    this.#groupOf(path);
    this.#groups.add(path);
  }

  removeDirectory(path: string): void {
    this.#enter("rmdir", path);
    if (!this.#groups.has(path)) throw systemError("ENOENT");
    if (this.#isPopulated(path) || this.listDirectories(path).length > 0) throw systemError("EBUSY");
    this.#groups.delete(path);
  }

  listDirectories(path: string): readonly string[] {
    const below = [...this.#groups].filter((group) => dirname(group) === path);
    return below.map((group) => group.slice(path.length + 1));
  }

  isCgroup2(path: string): boolean {
    this.#enter("statfs", path);
    if (path !== MOUNT && !path.startsWith(`${MOUNT}/`)) return false;
    if (!this.#groups.has(path)) throw systemError("ENOENT");
    return true;
  }

  watch(path: string, changed: () => void): Disposable {
    this.#enter("watch", path);
    const watch = { path, changed };
    this.#watches.add(watch);
    return { [Symbol.dispose]: () => void this.#watches.delete(watch) };
  }

  /** To be called when members have ended by themselves. */
  changed(): void {
    for (const { changed } of this.#watches) queueMicrotask(changed);
  }

  #groupOf(file: string): string {
    const group = dirname(file);
    if (!this.#groups.has(group)) throw systemError("ENOENT");
    return group;
  }

  #inside(group: string): string[] {
    return [...this.#groups].filter((path) => path === group || path.startsWith(`${group}/`));
  }

  #below(group: string): number[] {
    return this.#inside(group).flatMap((path) => this.#table.membersOf(path));
  }

  #isPopulated(group: string): boolean {
    return this.#below(group).length > 0 || this.#inside(group).some((path) => this.foreign.has(path));
  }

  #enter(call: string, path: string): void {
    this.#table.beforeCall(`${call} ${path}`);
    const errno = this.fails.get(`${call} ${path}`);
    if (errno !== undefined) throw systemError(errno);
  }
}
