import * as fs from "node:fs";
import type { DirectoryCalls, Seen } from "./calls.ts";

/** `PROC_SUPER_MAGIC`, see statfs(2). */
const PROC_MAGIC = 0x9fa0;
/** Names that are read at once: what is looked for mostly stands among the first, or there are no more. */
const NAMES_AT_ONCE = 128;

/** The real file system. */
export const nodeCalls: DirectoryCalls = {
  open: (path, flags) => fs.openSync(path, flags),
  close: (descriptor) => fs.closeSync(descriptor),
  fstat: (descriptor) => seen(fs.fstatSync(descriptor, { bigint: true })),
  lstat: (path) => {
    const stats = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? null : seen(stats);
  },
  read: (descriptor, buffer, position) => fs.readSync(descriptor, buffer, 0, buffer.length, position),
  names: function* (path) {
    const directory = fs.opendirSync(path, { encoding: "latin1", bufferSize: NAMES_AT_ONCE });
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield entry.name;
    } finally {
      directory.closeSync();
    }
  },
  mountOf: (descriptor) => {
    const [, id] = /^mnt_id:\s*(\d+)$/m.exec(fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? [];
    // As a kernel that does not say it: nothing is known to be on the same mount then.
    if (id === undefined) throw Object.assign(new Error("the kernel names no mount"), { code: "ENOTSUP" });
    return id;
  },
  hasProc: () => {
    try {
      return fs.statfsSync("/proc/self/fd").type === PROC_MAGIC;
    } catch {
      // Whatever keeps it from being looked at keeps it from being used.
      return false;
    }
  },
  realpath: (path) => fs.realpathSync.native(path),
};

function seen(stats: fs.BigIntStats): Seen {
  const { dev: device, ino: inode, birthtimeNs: birthTimeNs, size } = stats;
  return { kind: kindOf(stats), device, inode, birthTimeNs, size };
}

function kindOf(stats: fs.BigIntStats): Seen["kind"] {
  if (stats.isDirectory()) return "directory";
  if (stats.isFile()) return "file";
  return stats.isSymbolicLink() ? "symlink" : "other";
}
