import { type BigIntStats, constants } from "node:fs";
import type { FileSystem } from "../file-system.ts";
import { type CrashOptions, crashTrees } from "./crash-states.ts";
import { settleFile, type SimulatedFile, type SimulatedInode } from "./simulated-inode.ts";
import { simulatedStats } from "./simulated-stats.ts";
import { SimulatedTree, systemError } from "./simulated-tree.ts";

export type CallName = Exclude<keyof FileSystem, "fdatasyncAsync" | "fsyncAsync">;

/** An error to come: the `nth` call from now of this name (and path ending) fails, after `effect` of its work was done. */
export interface InjectedFault {
  readonly call: CallName;
  readonly errno: string;
  readonly nth?: number;
  readonly pathEnds?: string;
  readonly effect?: "none" | "half" | "all";
  /** Every such call fails from then on, until `heal()`. */
  readonly lasting?: boolean;
}

interface Descriptor {
  readonly inode: SimulatedInode;
  readonly path: string;
  readonly append: boolean;
  position: number;
}

/**
 * A disk in memory that can lose what was not synced, fill up and fail. Everything is visible at once and durable only after its
 * own sync: contents by `fsync`/`fdatasync` of the file, names by `fsync` of the directory. One descriptor table, no links but hard.
 */
export class SimulatedDisk implements FileSystem {
  /** Called before every call with its name and path: the place to look at crash states. */
  onCall: ((call: CallName, path: string) => void) | null = null;
  /** Bytes that files may have in all; more are ENOSPC after a short write. */
  capacityBytes = Infinity;
  /** The most that one write takes. */
  writeLimitBytes = Infinity;
  umask = 0;
  readonly #tree: SimulatedTree;
  readonly #descriptors = new Map<number, Descriptor>();
  #faults: { fault: InjectedFault; left: number }[] = [];
  #nextFd = 3;

  constructor(tree: SimulatedTree = new SimulatedTree()) {
    this.#tree = tree;
  }

  inject(fault: InjectedFault): void {
    this.#faults.push({ fault, left: fault.nth ?? 1 });
  }

  heal(): void {
    this.#faults = [];
    this.capacityBytes = Infinity;
  }

  /** Every disk that a power cut now may leave, within the options' bounds. */
  *crashStates(options: CrashOptions = {}): Generator<SimulatedDisk> {
    for (const tree of crashTrees(this.#tree, options)) yield new SimulatedDisk(tree);
  }

  get openDescriptors(): number {
    return this.#descriptors.size;
  }

  get usedBytes(): number {
    const named = new Set(this.#tree.directories().flatMap(({ names }) => [...names.values()]));
    for (const { inode } of this.#descriptors.values()) named.add(inode.ino);
    const files = this.#tree.files().filter(({ ino }) => named.has(ino));
    return files.reduce((sum, file) => sum + file.content.length, 0);
  }

  /** The bytes of a file as a reader sees them. */
  contentOf(path: string): Buffer {
    return Buffer.from(fileOf(this.#tree.need(path, "open"), path).content);
  }

  /** Puts bytes in a file, durably: damage, or a state to start from. */
  plant(path: string, bytes: Uint8Array, mode: number = 0o600): void {
    let inode = this.#tree.find(path);
    if (inode === null) {
      inode = this.#tree.create({ kind: "file", mode });
      this.#tree.name(path, inode.ino, "open");
    }
    const file = fileOf(inode, path);
    file.content = Buffer.from(bytes);
    file.durable = file.content;
    file.pending = [];
    this.#tree.touch(file);
  }

  open(path: string, flags: number, mode = 0o666): number {
    return this.#call("open", path, () => {
      let inode = this.#tree.find(path);
      if (inode !== null && (flags & constants.O_EXCL) !== 0) throw systemError("EEXIST", "open", path);
      if (inode === null) {
        if ((flags & constants.O_CREAT) === 0) throw systemError("ENOENT", "open", path);
        inode = this.#tree.create({ kind: "file", mode: mode & ~this.umask });
        this.#tree.name(path, inode.ino, "open");
      }
      if ((flags & constants.O_DIRECTORY) !== 0 && inode.kind === "file") throw systemError("ENOTDIR", "open", path);
      const fd = this.#nextFd;
      this.#nextFd += 1;
      this.#descriptors.set(fd, { inode, path, append: (flags & constants.O_APPEND) !== 0, position: 0 });
      return fd;
    });
  }

  close(fd: number): void {
    const { path } = this.#descriptor(fd, "close");
    this.#call("close", path, () => this.#descriptors.delete(fd));
  }

  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number {
    const { inode, path } = this.#descriptor(fd, "read");
    return this.#call("read", path, () => {
      const part = fileOf(inode, path).content.subarray(position, position + length);
      buffer.set(part, offset);
      return part.length;
    });
  }

  write(fd: number, buffer: Uint8Array, offset: number, length: number, position: number | null): number {
    const descriptor = this.#descriptor(fd, "write");
    const file = fileOf(descriptor.inode, descriptor.path);
    const put = (wanted: number): number => {
      const at = position ?? (descriptor.append ? file.content.length : descriptor.position);
      const free = this.capacityBytes === Infinity ? Infinity : Math.max(0, this.capacityBytes - this.usedBytes);
      const room = Math.max(0, file.content.length - at) + free;
      const count = Math.min(wanted, room, this.writeLimitBytes);
      if (count === 0 && wanted > 0) throw systemError("ENOSPC", "write", descriptor.path);
      this.#tree.change(file, {
        kind: "write",
        position: at,
        bytes: Uint8Array.from(buffer.subarray(offset, offset + count)),
      });
      if (position === null) descriptor.position = at + count;
      return count;
    };
    return this.#call(
      "write",
      descriptor.path,
      () => put(length),
      () => put(Math.ceil(length / 2)),
    );
  }

  fdatasync(fd: number): void {
    this.#sync(fd, "fdatasync");
  }

  async fdatasyncAsync(fd: number): Promise<void> {
    await Promise.resolve();
    this.#sync(fd, "fdatasync");
  }

  async fsyncAsync(fd: number): Promise<void> {
    await Promise.resolve();
    this.#sync(fd, "fsync");
  }

  fsync(fd: number): void {
    this.#sync(fd, "fsync");
  }

  ftruncate(fd: number, length: number): void {
    const { inode, path } = this.#descriptor(fd, "ftruncate");
    this.#call("ftruncate", path, () => this.#tree.change(fileOf(inode, path), { kind: "truncate", length }));
  }

  fstat(fd: number): BigIntStats {
    const { inode, path } = this.#descriptor(fd, "fstat");
    return this.#call("fstat", path, () => simulatedStats(inode));
  }

  lstat(path: string): BigIntStats {
    return this.#call("lstat", path, () => simulatedStats(this.#tree.need(path, "lstat")));
  }

  link(existing: string, path: string): void {
    this.#call("link", path, () => {
      const { ino } = this.#tree.need(existing, "link");
      if (this.#tree.find(path) !== null) throw systemError("EEXIST", "link", path);
      this.#tree.name(path, ino, "link");
    });
  }

  unlink(path: string): void {
    this.#call("unlink", path, () => {
      if (this.#tree.need(path, "unlink").kind === "directory") throw systemError("EISDIR", "unlink", path);
      this.#tree.unname(path, "unlink");
    });
  }

  rename(source: string, target: string): void {
    this.#call("rename", target, () => this.#tree.rename(source, target));
  }

  mkdir(path: string, mode: number): void {
    this.#call("mkdir", path, () => {
      if (this.#tree.find(path) !== null) throw systemError("EEXIST", "mkdir", path);
      const parent = path.slice(0, path.lastIndexOf("/"));
      this.#tree.directory(parent, "mkdir");
      this.#tree.name(path, this.#tree.create({ kind: "directory", mode: mode & ~this.umask }).ino, "mkdir");
    });
  }

  rmdir(path: string): void {
    this.#call("rmdir", path, () => {
      if (this.#tree.directory(path, "rmdir").names.size > 0) throw systemError("ENOTEMPTY", "rmdir", path);
      this.#tree.unname(path, "rmdir");
    });
  }

  readdir(path: string): string[] {
    return this.#call("readdir", path, () => [...this.#tree.directory(path, "readdir").names.keys()].toSorted());
  }

  chmod(path: string, mode: number): void {
    this.#call("chmod", path, () => this.#tree.chmod(this.#tree.need(path, "chmod"), mode));
  }

  fchmod(fd: number, mode: number): void {
    const { inode, path } = this.#descriptor(fd, "fchmod");
    this.#call("fchmod", path, () => this.#tree.chmod(inode, mode));
  }

  exists(path: string): boolean {
    return this.#call("exists", path, () => this.#tree.find(path) !== null);
  }

  hasName(fd: number, path: string): boolean {
    const { inode } = this.#descriptor(fd, "hasName");
    return this.#call("hasName", path, () => this.#tree.find(path) === inode);
  }

  /** After a failed sync of a file the kernel calls its pages clean: later syncs say yes and write only what was written since. */
  #sync(fd: number, call: "fsync" | "fdatasync"): void {
    const { inode, path } = this.#descriptor(fd, call);
    try {
      this.#call(call, path, () => this.#settle(inode));
    } catch (error) {
      if (inode.kind === "file") inode.pending = inode.pending.map((lost) => ({ ...lost, isLost: true }));
      throw error;
    }
  }

  #settle(inode: SimulatedInode): void {
    if (inode.kind === "file") {
      settleFile(inode);
      return;
    }
    inode.durable = new Map(inode.names);
    inode.pending = [];
  }

  #descriptor(fd: number, call: string): Descriptor {
    const descriptor = this.#descriptors.get(fd);
    if (descriptor === undefined) throw systemError("EBADF", call, String(fd));
    return descriptor;
  }

  #call<T>(call: CallName, path: string, run: () => T, runHalf?: () => unknown): T {
    this.onCall?.(call, path);
    const fault = this.#due(call, path);
    if (fault === null) return run();
    if (fault.effect === "all") run();
    if (fault.effect === "half") runHalf?.();
    throw systemError(fault.errno, call, path);
  }

  #due(call: CallName, path: string): InjectedFault | null {
    for (const entry of this.#faults) {
      const { fault } = entry;
      if (fault.call !== call || !path.endsWith(fault.pathEnds ?? "")) continue;
      entry.left -= 1;
      if (entry.left > 0) continue;
      if (fault.lasting !== true) this.#faults = this.#faults.filter((other) => other !== entry);
      return fault;
    }
    return null;
  }
}

function fileOf(inode: SimulatedInode, path: string): SimulatedFile {
  if (inode.kind !== "file") throw systemError("EISDIR", "read", path);
  return inode;
}
