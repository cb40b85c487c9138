import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { because, obstacle } from "./support/obstacle.ts";
import { runProgram } from "./support/run-program.ts";

/** A kernel that has it, and need not load it. */
const overlay =
  obstacle() ?? (readFileSync("/proc/filesystems", "utf8").includes("\toverlay\n") ? null : "needs overlayfs");
const reason = obstacle("unshare", "mount", "umount", "losetup", "mkfs.ext4");

describe.skipIf(reason !== null)(`a trusted directory and what is mounted${because(reason)}`, () => {
  let rows: Readonly<Record<string, unknown>> = {};
  beforeAll(
    async () => void (rows = await runProgram("mounts", { mounts: true, args: overlay === null ? ["overlay"] : [] })),
  );

  it("I47 is not trusted by another path that a bind mount makes, and by its own as before", () => {
    expect(rows["boundElsewhere"]).toEqual(["not_listed", "granted"]);
  });

  it.each(["boundOver", "diskOver"])(
    "I160 is replaced by what is mounted over it, for good for what was bound: %s",
    (over) => {
      expect(rows[over]).toEqual(["replaced", "replaced", "replaced", "granted"]);
    },
  );

  it("I160 is replaced by what is mounted above it", () => {
    expect(rows["mountedAbove"]).toBe("replaced");
  });

  it("I47 does not reach into what is mounted inside, a part of the same disk, too", () => {
    const read = ["other_mount", "other_mount", "other_mount", "file"];
    expect(rows["mountedInside"]).toEqual([...read, "other_mount", "other_mount", "directory"]);
  });

  it.skipIf(overlay !== null)(
    `reads the files of an overlay, which have the device of their layer${because(overlay)}`,
    () => {
      expect(rows["onOverlay"]).toEqual({ isOtherDevice: true, read: "file" });
    },
  );

  it("I160 is told from one that was made anew with the same inode number", () => {
    expect(rows["sameInode"]).toEqual({ isSameInode: true, verdict: "replaced" });
  });

  it("I160 is held where its disk records no birth times, and unproven in a later process", () => {
    expect(rows["unborn"]).toEqual({
      birth: "0",
      held: ["granted", "granted"],
      later: ["unproven", "unproven"],
    });
  });

  it("I122 leaves nothing open", () => {
    expect(rows["leftOpen"]).toBe(0);
  });
});
