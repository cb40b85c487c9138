import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "./home.ts";

/** Puts the home on a disk of its own that can be filled to the last byte. */
export function smallDisk(home: Home): { fill: () => void; free: () => void } {
  mkdirSync(home.path, { mode: 0o700 });
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", home.path]);
  home.beforeRemoval = () => void execFileSync("umount", ["-l", home.path]);
  const filler = join(home.path, "filler");
  const add = (bytes: number): void => {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(bytes), { flag: "a" });
    } catch {
      // No room for so many bytes: that is what was wanted.
    }
  };
  return { fill: () => [65_536, 4_096, 1].forEach(add), free: () => rmSync(filler) };
}
