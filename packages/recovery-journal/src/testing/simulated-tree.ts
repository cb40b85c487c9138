import { basename, dirname } from "node:path";
import { applyChange } from "./simulated-inode.ts";
import type {
  NameChange,
  PendingChange,
  SimulatedDirectory,
  SimulatedFile,
  SimulatedInode,
} from "./simulated-inode.ts";

export const ROOT_INO = 1;
const EMPTY = Buffer.alloc(0);

/** A system error as Node throws it. */
export function systemError(errno: string, call: string, path: string): Error {
  return Object.assign(new Error(`${errno}: simulated, ${call} '${path}'`), { code: errno, syscall: call, path });
}

/** Inodes and names of a simulated disk. */
export class SimulatedTree {
  readonly inodes = new Map<number, SimulatedInode>();
  #nextIno = ROOT_INO;
  #changes = 0;

  /** `before`: whose inodes are to be taken in. As on a real disk, its clock goes on, and no number is given twice. */
  constructor(before?: SimulatedTree) {
    this.create({ kind: "directory", mode: 0o755 });
    if (before === undefined) return;
    this.#nextIno = before.#nextIno;
    this.#changes = before.#changes;
  }

  create(request: { kind: "file" | "directory"; mode: number }): SimulatedInode {
    const ino = this.#nextIno;
    this.#nextIno += 1;
    const inode: SimulatedInode =
      request.kind === "file"
        ? { ...request, kind: "file", ino, changed: 0, content: EMPTY, durable: EMPTY, pending: [] }
        : { ...request, kind: "directory", ino, changed: 0, names: new Map(), durable: new Map(), pending: [] };
    this.inodes.set(ino, inode);
    this.touch(inode);
    return inode;
  }

  /** Takes in an inode that has its number already. */
  add(inode: SimulatedInode): void {
    this.inodes.set(inode.ino, inode);
  }

  /** Visible at once, and not yet durable. */
  change(file: SimulatedFile, change: PendingChange): void {
    file.content = applyChange(file.content, change);
    file.pending.push(change);
    this.touch(file);
  }

  chmod(inode: SimulatedInode, mode: number): void {
    inode.mode = mode;
    this.touch(inode);
  }

  /** Something of it was changed just now: bytes, mode or names. */
  touch(inode: SimulatedInode): void {
    this.#changes += 1;
    inode.changed = this.#changes;
  }

  find(path: string): SimulatedInode | null {
    let inode = this.inodes.get(ROOT_INO) ?? null;
    for (const name of path.split("/").filter((part) => part !== "")) {
      if (inode?.kind !== "directory") return null;
      inode = this.inodes.get(inode.names.get(name) ?? 0) ?? null;
    }
    return inode;
  }

  need(path: string, call: string): SimulatedInode {
    const inode = this.find(path);
    if (inode === null) throw systemError("ENOENT", call, path);
    return inode;
  }

  directory(path: string, call: string): SimulatedDirectory {
    const inode = this.need(path, call);
    if (inode.kind !== "directory") throw systemError("ENOTDIR", call, path);
    return inode;
  }

  /** Gives `ino` the name `path`. */
  name(path: string, ino: number, call: string): void {
    this.#changeNames(this.directory(dirname(path), call), { set: [[basename(path), ino]], remove: [] });
  }

  unname(path: string, call: string): void {
    const inode = this.find(path);
    this.#changeNames(this.directory(dirname(path), call), { set: [], remove: [basename(path)] });
    if (inode !== null) this.touch(inode);
  }

  rename(source: string, target: string): void {
    const { ino } = this.need(source, "rename");
    const parent = this.directory(dirname(target), "rename");
    if (dirname(source) !== dirname(target)) throw systemError("EXDEV", "rename", target);
    this.#changeNames(parent, { set: [[basename(target), ino]], remove: [basename(source)] });
  }

  /** The directory and all that gets a name in it are changed by that. */
  #changeNames(directory: SimulatedDirectory, change: NameChange): void {
    applyNames(directory.names, change);
    directory.pending.push(change);
    this.touch(directory);
    for (const [, ino] of change.set) {
      const inode = this.inodes.get(ino);
      if (inode !== undefined) this.touch(inode);
    }
  }

  files(): SimulatedFile[] {
    return [...this.inodes.values()].filter((inode) => inode.kind === "file");
  }

  directories(): SimulatedDirectory[] {
    return [...this.inodes.values()].filter((inode) => inode.kind === "directory");
  }
}

export function applyNames(names: Map<string, number>, change: NameChange): void {
  for (const name of change.remove) names.delete(name);
  for (const [name, ino] of change.set) names.set(name, ino);
}
