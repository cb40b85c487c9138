import * as nodeFs from "node:fs";
import * as nodePath from "node:path";
import type { FileSystem } from "./file-system.ts";
import { flushThread } from "./flush-thread.ts";

/** The real disk. */
export const nodeFileSystem: FileSystem = {
  open: (path, flags, mode) => nodeFs.openSync(path, flags, mode),
  close: (fd) => nodeFs.closeSync(fd),
  read: (fd, buffer, offset, length, position) => nodeFs.readSync(fd, buffer, offset, length, position),
  write: (fd, buffer, offset, length, position) => nodeFs.writeSync(fd, buffer, offset, length, position),
  fdatasync: (fd) => nodeFs.fdatasyncSync(fd),
  fdatasyncAsync: (fd, by) =>
    by === "thread"
      ? flushThread.fdatasync(fd)
      : new Promise((resolve, reject) => {
          nodeFs.fdatasync(fd, (error) => (error === null ? resolve() : reject(error)));
        }),
  fsync: (fd) => nodeFs.fsyncSync(fd),
  fsyncAsync: (fd) =>
    new Promise((resolve, reject) => {
      nodeFs.fsync(fd, (error) => (error === null ? resolve() : reject(error)));
    }),
  ftruncate: (fd, length) => nodeFs.ftruncateSync(fd, length),
  fstat: (fd) => nodeFs.fstatSync(fd, { bigint: true }),
  lstat: (path) => nodeFs.lstatSync(path, { bigint: true }),
  link: (existing, path) => nodeFs.linkSync(existing, path),
  unlink: (path) => nodeFs.unlinkSync(path),
  rename: (source, target) => nodeFs.renameSync(source, target),
  mkdir: (path, mode) => {
    nodeFs.mkdirSync(path, mode);
  },
  rmdir: (path) => nodeFs.rmdirSync(path),
  readdir: (path) => nodeFs.readdirSync(path),
  chmod: (path, mode) => nodeFs.chmodSync(path, mode),
  fchmod: (fd, mode) => nodeFs.fchmodSync(fd, mode),
  // Asked twice for each batch of a journal. `existsSync` says no to every error, so its no is asked again; `statSync`
  // throws them and makes no error object for a name that is not there.
  exists: (path, likely) =>
    (likely !== "absent" && nodeFs.existsSync(path)) || nodeFs.statSync(path, { throwIfNoEntry: false }) !== undefined,
  hasName: (fd, path) => kernelNameOf(fd) === nodePath.resolve(path) || isSameFile(fd, path),
};

/** As the kernel knows it, without links in it; with a suffix when it was removed. `null` where there is no `/proc`. */
function kernelNameOf(fd: number): string | null {
  try {
    return nodeFs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // The answer without it costs more and is the same.
    return null;
  }
}

function isSameFile(fd: number, path: string): boolean {
  const there = nodeFs.statSync(path, { bigint: true, throwIfNoEntry: false });
  const own = nodeFs.fstatSync(fd, { bigint: true });
  return there !== undefined && there.ino === own.ino && there.dev === own.dev;
}
