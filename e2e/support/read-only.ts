import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "./home.ts";

const mount = (...args: readonly string[]): void => void execFileSync("mount", args);

interface StrictDisk {
  /** While the work runs, whoever opens something anew finds the home read-only. */
  readonly sealed: <T>(work: () => Promise<T>) => Promise<T>;
  /** While the work runs, there is no room for one more file, and no reserve. */
  readonly crowded: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Puts the home on a disk of its own. */
export function strictDisk(home: Home): StrictDisk {
  const { path } = home;
  mkdirSync(path, { mode: 0o700 });
  mount("-t", "tmpfs", "-o", "size=4m,nr_inodes=200,mode=0700", "tmpfs", path);
  home.beforeRemoval = () => void execFileSync("umount", ["-l", path]);
  return {
    sealed: async (work) => {
      mount("--bind", path, path);
      try {
        mount("-o", "remount,bind,ro", path);
        return await work();
      } finally {
        execFileSync("umount", [path]);
      }
    },
    crowded: async (work) => {
      const crowd = join(path, "crowd");
      rmSync(join(path, "run", "reserve"), { force: true });
      mkdirSync(crowd);
      try {
        fillWithFiles(crowd);
        return await work();
      } finally {
        rmSync(crowd, { recursive: true });
      }
    },
  };
}

function fillWithFiles(folder: string): void {
  try {
    for (let at = 0; ; at += 1) writeFileSync(join(folder, String(at)), "");
  } catch {
    // No room for one more: that is what was wanted.
  }
}
