import { type BigIntStats, constants } from "node:fs";
import { effectiveUser } from "../durable/private-directory.ts";
import type { SimulatedInode } from "./simulated-inode.ts";

const OWNER = BigInt(effectiveUser());
const no = (): boolean => false;

/**
 * The stats of a simulated inode. Its last change (`ctime`) is as many milliseconds after 1970 as the disk had changes by then, and so
 * another one for each; all other times are zero: nothing durable may depend on them.
 */
export function simulatedStats(inode: SimulatedInode): BigIntStats {
  const size = inode.kind === "file" ? inode.content.length : 0;
  const type = inode.kind === "file" ? constants.S_IFREG : constants.S_IFDIR;
  const epoch = new Date(0);
  const changedMs = BigInt(inode.changed);
  return {
    dev: 1n,
    ino: BigInt(inode.ino),
    mode: BigInt(type | inode.mode),
    nlink: 1n,
    uid: OWNER,
    gid: 0n,
    rdev: 0n,
    size: BigInt(size),
    blksize: 4096n,
    blocks: BigInt(Math.ceil(size / 512)),
    atimeMs: 0n,
    mtimeMs: 0n,
    ctimeMs: changedMs,
    birthtimeMs: 0n,
    atimeNs: 0n,
    mtimeNs: 0n,
    ctimeNs: changedMs * 1_000_000n,
    birthtimeNs: 0n,
    atime: epoch,
    mtime: epoch,
    ctime: new Date(inode.changed),
    birthtime: epoch,
    isFile: () => inode.kind === "file",
    isDirectory: () => inode.kind === "directory",
    isBlockDevice: no,
    isCharacterDevice: no,
    isSymbolicLink: no,
    isFIFO: no,
    isSocket: no,
  };
}
