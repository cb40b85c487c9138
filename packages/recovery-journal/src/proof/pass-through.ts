import { type BigIntStats, constants } from "node:fs";
import type { FileSystem } from "../file-system.ts";

/** What a descriptor was opened for. */
export interface Opened {
  readonly path: string;
  readonly kind: "directory" | "temporary" | "file";
}

/** Hands every call on: a broken variant overrides the ones that it breaks. */
export class PassThrough implements FileSystem {
  protected readonly inner: FileSystem;
  protected readonly opened = new Map<number, Opened>();

  constructor(inner: FileSystem) {
    this.inner = inner;
  }

  open(path: string, flags: number, mode?: number): number {
    const fd = this.inner.open(path, flags, mode);
    const directory = (flags & constants.O_DIRECTORY) !== 0;
    this.opened.set(fd, { path, kind: directory ? "directory" : path.endsWith(".tmp") ? "temporary" : "file" });
    return fd;
  }
  close(fd: number): void {
    this.inner.close(fd);
  }
  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number {
    return this.inner.read(fd, buffer, offset, length, position);
  }
  write(fd: number, buffer: Uint8Array, offset: number, length: number, position: number | null): number {
    return this.inner.write(fd, buffer, offset, length, position);
  }
  fdatasync(fd: number): void {
    this.inner.fdatasync(fd);
  }
  async fdatasyncAsync(fd: number): Promise<void> {
    await Promise.resolve();
    this.fdatasync(fd);
  }
  fsync(fd: number): void {
    this.inner.fsync(fd);
  }
  async fsyncAsync(fd: number): Promise<void> {
    await Promise.resolve();
    this.fsync(fd);
  }
  ftruncate(fd: number, length: number): void {
    this.inner.ftruncate(fd, length);
  }
  fstat(fd: number): BigIntStats {
    return this.inner.fstat(fd);
  }
  lstat(path: string): BigIntStats {
    return this.inner.lstat(path);
  }
  link(existing: string, path: string): void {
    this.inner.link(existing, path);
  }
  unlink(path: string): void {
    this.inner.unlink(path);
  }
  rename(source: string, target: string): void {
    this.inner.rename(source, target);
  }
  mkdir(path: string, mode: number): void {
    this.inner.mkdir(path, mode);
  }
  rmdir(path: string): void {
    this.inner.rmdir(path);
  }
  readdir(path: string): string[] {
    return this.inner.readdir(path);
  }
  chmod(path: string, mode: number): void {
    this.inner.chmod(path, mode);
  }
  fchmod(fd: number, mode: number): void {
    this.inner.fchmod(fd, mode);
  }
  exists(path: string): boolean {
    return this.inner.exists(path);
  }
  hasName(fd: number, path: string): boolean {
    return this.inner.hasName(fd, path);
  }
}
