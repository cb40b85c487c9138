import type { BigIntStats } from "node:fs";
import type { FileSystem } from "@holdfast/recovery-journal";
import type { SimProcess } from "./sim-process.ts";
import type { World } from "./world.ts";

/** The world's disk as one process reaches it: not at all once it has ended, and late while the disk stands still. */
export class ProcessFiles implements FileSystem {
  readonly #world: World;
  readonly #process: SimProcess;

  constructor(world: World, process: SimProcess) {
    this.#world = world;
    this.#process = process;
  }

  open(path: string, flags: number, mode?: number): number {
    return this.#call(`open ${nameOf(path)}`).open(path, flags, mode);
  }

  close(fd: number): void {
    this.#call("close").close(fd);
  }

  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number {
    return this.#call("read").read(fd, buffer, offset, length, position);
  }

  write(fd: number, buffer: Uint8Array, offset: number, length: number, position: number | null): number {
    return this.#call("write").write(fd, buffer, offset, length, position);
  }

  fdatasync(fd: number): void {
    this.#call("fdatasync").fdatasync(fd);
  }

  async fdatasyncAsync(fd: number): Promise<void> {
    await this.#late();
    this.fdatasync(fd);
  }

  fsync(fd: number): void {
    this.#call("fsync").fsync(fd);
  }

  async fsyncAsync(fd: number): Promise<void> {
    await this.#late();
    this.fsync(fd);
  }

  ftruncate(fd: number, length: number): void {
    this.#call("ftruncate").ftruncate(fd, length);
  }

  fstat(fd: number): BigIntStats {
    return this.#call("fstat").fstat(fd);
  }

  lstat(path: string): BigIntStats {
    return this.#call("lstat").lstat(path);
  }

  link(existing: string, path: string): void {
    this.#call(`link ${nameOf(path)}`).link(existing, path);
  }

  unlink(path: string): void {
    const disk = this.#call(`unlink ${nameOf(path)}`);
    this.#world.checks.unlinking(path);
    disk.unlink(path);
  }

  rename(source: string, target: string): void {
    this.#call(`rename ${nameOf(target)}`).rename(source, target);
  }

  mkdir(path: string, mode: number): void {
    this.#call("mkdir").mkdir(path, mode);
  }

  rmdir(path: string): void {
    this.#call("rmdir").rmdir(path);
  }

  readdir(path: string): string[] {
    return this.#call("readdir").readdir(path);
  }

  chmod(path: string, mode: number): void {
    this.#call("chmod").chmod(path, mode);
  }

  fchmod(fd: number, mode: number): void {
    this.#call("fchmod").fchmod(fd, mode);
  }

  exists(path: string): boolean {
    return this.#call("exists").exists(path);
  }

  hasName(fd: number, path: string): boolean {
    return this.#call("hasName").hasName(fd, path);
  }

  #call(call: string): FileSystem {
    this.#process.touch(call);
    this.#world.prepare(call.split(" ", 1)[0] ?? call);
    return this.#world.disk;
  }

  /** Resolves when the disk has got to it; never for a process that ends meanwhile. */
  #late(): Promise<void> {
    this.#process.touch("sync");
    const { scheduler } = this.#world;
    return new Promise((resolve) => {
      scheduler.plan(this.#world.diskDelay(), `${this.#process.label} is synced`, () => this.#process.enter(resolve));
    });
  }
}

/** Without the random part of a name that is there for a moment. */
const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1).replace(/\.[0-9a-f]{12}\.tmp$/, ".tmp");
