import { type BigIntStats, constants } from "node:fs";
import { effectiveUser } from "../durable/private-directory.ts";
import type { SimulatedInode } from "./simulated-inode.ts";

const OWNER = BigInt(effectiveUser());
const no = (): boolean => false;

/** The stats of a simulated inode. Times are all zero: nothing durable may depend on them. */
export function simulatedStats(inode: SimulatedInode): BigIntStats {
  const size = inode.kind === "file" ? inode.content.length : 0;
  const type = inode.kind === "file" ? constants.S_IFREG : constants.S_IFDIR;
  const epoch = new Date(0);
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
    ctimeMs: 0n,
    birthtimeMs: 0n,
    atimeNs: 0n,
    mtimeNs: 0n,
    ctimeNs: 0n,
    birthtimeNs: 0n,
    atime: epoch,
    mtime: epoch,
    ctime: epoch,
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
