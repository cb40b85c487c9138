import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFileSystem as fs } from "../node-file-system.ts";
import { SimulatedDisk } from "../testing/index.ts";
import { ensurePrivateDirectory, ensurePrivateDirectoryAsync } from "./private-directory.ts";
import { publishFile } from "./publish-file.ts";
import { replaceFile } from "./replace-file.ts";
import { createMarkerFile, readBounded, removeFile } from "./small-files.ts";

let root: string;
const modeOf = (path: string): number => statSync(path).mode & 0o777;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-durable-"));
});
afterEach(() => rmSync(root, { recursive: true }));

describe("on the real disk", () => {
  it("makes exact modes with a simulated umask of 000 and of 077", () => {
    for (const umask of [0, 0o077, 0o777]) {
      const disk = new SimulatedDisk();
      disk.umask = umask;
      ensurePrivateDirectory(disk, "/a/b");
      replaceFile(disk, "/a/b/f", "x", { mode: 0o640 });
      publishFile(disk, "/a/b/p", "x");
      createMarkerFile(disk, "/a/b/m");
      const modes = ["/a", "/a/b", "/a/b/f", "/a/b/p", "/a/b/m"].map((path) => Number(disk.lstat(path).mode & 0o777n));
      expect(modes).toEqual([0o700, 0o700, 0o640, 0o600, 0o600]);
    }
  });

  it("I109 replaces a file, and never through a planted link", () => {
    const [path, victim] = [join(root, "f"), join(root, "victim")];
    writeFileSync(victim, "untouched");
    symlinkSync(victim, path);
    replaceFile(fs, path, "new");
    expect([readFileSync(path, "utf8"), readFileSync(victim, "utf8"), modeOf(path)]).toEqual([
      "new",
      "untouched",
      0o600,
    ]);
    expect(readdirSync(root).toSorted()).toEqual(["f", "victim"]);
  });

  it("publishes once and never clobbers", () => {
    const path = join(root, "p");
    expect(publishFile(fs, path, "first")).toEqual({ kind: "published" });
    expect(publishFile(fs, path, "second")).toEqual({ kind: "exists" });
    expect(readFileSync(path, "utf8")).toBe("first");
    expect(readdirSync(root)).toEqual(["p"]);
  });

  it("reads within bounds and tells what it could not read", () => {
    const path = join(root, "r");
    writeFileSync(path, "12345");
    symlinkSync(path, join(root, "link"));
    expect(readBounded(fs, path, 5)).toEqual({ kind: "read", bytes: Buffer.from("12345") });
    expect(readBounded(fs, path, 4)).toEqual({ kind: "oversize" });
    expect(readBounded(fs, join(root, "none"), 4)).toEqual({ kind: "missing" });
    expect(readBounded(fs, join(root, "link"), 9)).toEqual({ kind: "unreadable", errno: "ELOOP" });
    expect(readBounded(fs, root, 9)).toEqual({ kind: "unreadable", errno: "EISDIR" });
  });

  it("refuses a directory that others may enter, and a link to one of ours", () => {
    const path = join(root, "d");
    mkdirSync(path);
    chmodSync(path, 0o755);
    expect(() => ensurePrivateDirectory(fs, path)).toThrow(`others may enter ${path}`);
    chmodSync(path, 0o700);
    ensurePrivateDirectory(fs, path);
    symlinkSync(path, join(root, "link"));
    expect(() => ensurePrivateDirectory(fs, join(root, "link"))).toThrow("is a symbolic link");
  });

  it("refuses a home that nobody can make, instead of trying for ever", () => {
    expect(() => ensurePrivateDirectory(fs, "/proc/holdfast/home")).toThrow("ENOENT");
  });

  it("removes a file that is there and one that is not", () => {
    const path = join(root, "m");
    createMarkerFile(fs, path);
    expect(() => createMarkerFile(fs, path)).toThrow("EEXIST");
    removeFile(fs, path, { sync: true });
    removeFile(fs, path);
    expect(readdirSync(root)).toEqual([]);
  });
});

describe("on a disk that fails", () => {
  it("I69 I109 has the old bytes or the new ones after a power cut at any call", () => {
    const disk = new SimulatedDisk();
    disk.plant("/f", Buffer.from("old"));
    disk.fsync(disk.open("/", 0));
    const seen = new Set<string>();
    disk.onCall = () => {
      for (const state of disk.crashStates()) seen.add(state.contentOf("/f").toString());
    };
    replaceFile(disk, "/f", "new and longer");
    expect([...seen].toSorted()).toEqual(["new and longer", "old"]);
    const after = [...disk.crashStates()].map((state) => state.contentOf("/f").toString());
    expect(new Set(after)).toEqual(new Set(["new and longer"]));
  });

  it.each(["write", "fsync", "rename", "fchmod"] as const)(
    "leaves no temporary file and throws the error of %s",
    (call) => {
      const disk = new SimulatedDisk();
      disk.plant("/f", Buffer.from("old"));
      disk.inject({ call, errno: "ENOSPC", effect: "half" });
      expect(() => replaceFile(disk, "/f", "new")).toThrow(`ENOSPC: simulated, ${call}`);
      expect([disk.readdir("/"), disk.contentOf("/f").toString(), disk.openDescriptors]).toEqual([["f"], "old", 0]);
    },
  );

  it("I169 makes a directory and those above it durable without a sync that the caller's loop waits for", async () => {
    const disk = new (class extends SimulatedDisk {
      override fsync(): never {
        throw new Error("the loop waits for the disk");
      }
    })();
    await ensurePrivateDirectoryAsync(disk, "/a/b");
    expect(disk.openDescriptors).toBe(0);
    expect([...disk.crashStates()].map((state) => state.exists("/a/b"))).toEqual([true]);
    await expect(ensurePrivateDirectoryAsync(disk, "/a/b")).resolves.toBeUndefined();
  });

  it("settles an ambiguous error of link by the inode", () => {
    const disk = new SimulatedDisk();
    disk.inject({ call: "link", errno: "EIO", effect: "all" });
    expect(publishFile(disk, "/p", "x")).toEqual({ kind: "published" });
    disk.inject({ call: "link", errno: "EIO", effect: "none" });
    expect(() => publishFile(disk, "/q", "x")).toThrow("EIO");
    expect(disk.readdir("/")).toEqual(["p"]);
  });
});
