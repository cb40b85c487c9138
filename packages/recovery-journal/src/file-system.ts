import type { BigIntStats } from "node:fs";

/**
 * The calls through which everything durable goes: the seam where a simulated disk can crash, tear, fill and lie.
 * All are synchronous but `fdatasyncAsync` and `fsyncAsync`. Errors are Node's own (`error.code` is the errno name).
 */
export interface FileSystem {
  open(path: string, flags: number, mode?: number): number;
  close(fd: number): void;
  /** Bytes read; `position` is absolute. */
  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number;
  /** Bytes written, possibly fewer than asked; `position: null` appends at the descriptor's own place. */
  write(fd: number, buffer: Uint8Array, offset: number, length: number, position: number | null): number;
  fdatasync(fd: number): void;
  /** In the thread pool that all of Node's file calls share, or on a thread for flushes alone. Default `pool`. */
  fdatasyncAsync(fd: number, by?: "pool" | "thread"): Promise<void>;
  fsync(fd: number): void;
  fsyncAsync(fd: number): Promise<void>;
  ftruncate(fd: number, length: number): void;
  fstat(fd: number): BigIntStats;
  lstat(path: string): BigIntStats;
  link(existing: string, path: string): void;
  unlink(path: string): void;
  rename(source: string, target: string): void;
  mkdir(path: string, mode: number): void;
  rmdir(path: string): void;
  readdir(path: string): string[];
  chmod(path: string, mode: number): void;
  /** Sets the exact bits of an open file, whatever the umask. */
  fchmod(fd: number, mode: number): void;
  /**
   * Whether the name is there; throws when that cannot be told. Not `lstat`: reading time stamps makes the next write of
   * the file dirty its inode. `likely` changes what the answer costs and not the answer. Default `present`.
   */
  exists(path: string, likely?: "present" | "absent"): boolean;
  /** Whether the file that was opened by this name still has it: not removed, moved or replaced by another. Not `fstat`, as above. */
  hasName(fd: number, path: string): boolean;
}
