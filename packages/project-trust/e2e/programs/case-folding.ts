// A trusted directory on a disk that folds case. In a mount namespace of its own; tries what this kernel has.
import { mkdirSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { canonicalDirectory, createProjectTrustAuthority } from "../../src/index.ts";
import { directory, openFiles, room, run, verdictOf } from "./room.ts";

const place = directory("disk");

function image(megabytes: number): string {
  const path = join(room, "image");
  run("truncate", "-s", "0", path);
  run("truncate", "-s", `${megabytes}M`, path);
  return path;
}

/** Each mounts a disk at the place, or throws. */
const disks: Readonly<Record<string, () => void>> = {
  vfat: () => {
    const disk = image(8);
    run("mkfs.vfat", disk);
    run("mount", "-t", "vfat", "-o", "loop", disk, place);
  },
  ext4: () => {
    const disk = image(16);
    run("mkfs.ext4", "-q", "-O", "casefold", disk);
    run("mount", "-o", "loop", disk, place);
    run("rmdir", join(place, "lost+found"));
    run("chattr", "+F", place);
  },
  xfs: () => {
    const disk = image(320);
    run("mkfs.xfs", "-q", "-n", "version=ci", disk);
    run("mount", "-o", "loop", disk, place);
  },
  "ntfs by FUSE": () => {
    const disk = image(8);
    run("mkfs.ntfs", "-F", "-Q", "-q", disk);
    run("lowntfs-3g", "-o", "ignore_case", disk, place);
  },
};

function rows(): unknown {
  mkdirSync(join(place, "Work"));
  mkdirSync(join(place, "Work", "inner"));
  const [kept = ""] = readdirSync(place).filter((name) => name.toLowerCase() === "work");
  const other = kept === "WORK" ? "work" : "WORK";
  const inode = (name: string): bigint => statSync(join(place, name), { bigint: true }).ino;
  if (inode(kept) !== inode(other)) throw new Error("it does not fold case");
  const paths = [kept, other, `${kept}/inner`, `${other}/inner`, `${kept}/INNER`].map((name) => join(place, name));
  const before = openFiles();
  const authority = createProjectTrustAuthority({ policy: paths });
  const verdicts = paths.map((path) => verdictOf(authority.authorize(path)));
  authority.dispose();
  const canonical = paths.map((path) => {
    const found = canonicalDirectory(path);
    return found.kind === "denied" ? found.reason : paths.indexOf(found.identity.directory);
  });
  const realpathKeeps = realpathSync.native(join(place, other)) === join(place, other);
  return { verdicts, canonical, realpathKeeps, leftOpen: openFiles() - before };
}

function tried(): unknown {
  const without: string[] = [];
  for (const [name, mount] of Object.entries(disks)) {
    try {
      mount();
      return { by: name, rows: rows() };
    } catch (error) {
      without.push(`${name}: ${error instanceof Error ? (error.message.split("\n").at(1) ?? error.message) : "?"}`);
    } finally {
      unmounted();
    }
  }
  return { by: null, without };
}

function unmounted(): void {
  try {
    run("umount", place);
  } catch {
    // Nothing had been mounted.
  }
}

process.stdout.write(JSON.stringify(tried()));
