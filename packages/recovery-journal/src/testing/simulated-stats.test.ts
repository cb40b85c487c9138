import { constants } from "node:fs";
import { expect, it } from "vitest";
import { SimulatedDisk } from "./simulated-disk.ts";

function diskWith(...files: readonly string[]): SimulatedDisk {
  const disk = new SimulatedDisk();
  disk.mkdir("/d", 0o700);
  for (const file of files) disk.plant(file, Buffer.from("12"));
  return disk;
}

const changedAt = (disk: SimulatedDisk, path: string): bigint => disk.lstat(path).ctimeNs;
const opened = (disk: SimulatedDisk): number => disk.open("/d/f", constants.O_RDWR);

it.each<readonly [what: string, change: (disk: SimulatedDisk) => void, path: string]>([
  ["bytes", (disk) => disk.write(opened(disk), Buffer.from("ab"), 0, 2, 0), "/d/f"],
  ["length", (disk) => disk.ftruncate(opened(disk), 2), "/d/f"],
  ["mode", (disk) => disk.chmod("/d/f", 0o600), "/d/f"],
  ["mode, opened", (disk) => disk.fchmod(opened(disk), 0o600), "/d/f"],
  ["another name", (disk) => disk.link("/d/f", "/d/g"), "/d/f"],
  ["one name less", (disk) => disk.unlink("/d/h"), "/d/f"],
  ["a new name", (disk) => disk.rename("/d/h", "/d/f"), "/d/f"],
  ["a name in it", (disk) => disk.link("/d/f", "/d/g"), "/d"],
  ["a name less in it", (disk) => disk.unlink("/d/f"), "/d"],
])("a change of %s shows in the time of the last change alone", (_what, change, path) => {
  const disk = diskWith("/d/f");
  disk.link("/d/f", "/d/h");
  const before = disk.lstat(path);
  change(disk);
  const after = disk.lstat(path);
  expect([after.ino, after.size, after.mode]).toEqual([before.ino, before.size, before.mode]);
  expect(after.ctimeNs).toBeGreaterThan(before.ctimeNs);
  expect([after.mtimeNs, after.atimeNs]).toEqual([0n, 0n]);
});

it("what is only looked at is not changed", () => {
  const disk = diskWith("/d/f");
  const before = ["/d", "/d/f"].map((path) => changedAt(disk, path));
  const fd = opened(disk);
  disk.read(fd, Buffer.alloc(2), 0, 2, 0);
  disk.fsync(fd);
  disk.close(fd);
  disk.readdir("/d");
  expect(["/d", "/d/f"].map((path) => changedAt(disk, path))).toEqual(before);
});

it("after a power cut the clock goes on, and no inode's number is given again", () => {
  const disk = diskWith();
  disk.fsync(disk.open("/", constants.O_RDONLY));
  disk.plant("/d/lost", Buffer.from("12"));
  const lost = disk.lstat("/d/lost");
  const [left] = [...disk.crashStates()].filter((state) => state.exists("/d") && !state.exists("/d/lost"));
  left?.plant("/d/later", Buffer.from("12"));
  const later = left?.lstat("/d/later");
  expect(later?.ino).toBeGreaterThan(lost.ino);
  expect(later?.ctimeNs).toBeGreaterThan(lost.ctimeNs);
});
