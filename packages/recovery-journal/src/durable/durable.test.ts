import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFileSystem as fs } from "../node-file-system.ts";
import { SimulatedDisk } from "../testing/index.ts";
import { isInPlace, mayBeInPlace } from "./outcome.ts";
import { ensurePrivateDirectory, ensurePrivateDirectoryAsync } from "./private-directory.ts";
import { publishFile } from "./publish-file.ts";
import { replaceFile, replaceFileAsync } from "./replace-file.ts";
import { createMarkerFile, readBounded, removeFile } from "./small-files.ts";
import { isUnsupported } from "./sync-directory.ts";
import { thrownBy } from "./thrown-by.testing.ts";

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

  it("I109 refuses a directory that is a link, before anything is written", async () => {
    const [folder, link] = [join(root, "folder"), join(root, "link")];
    mkdirSync(folder);
    symlinkSync(folder, link);
    const refusal = { code: "not_replaced", data: { path: join(link, "f") }, cause: { code: "unsafe_directory" } };
    expect(thrownBy(() => replaceFile(fs, join(link, "f"), "x"))).toMatchObject(refusal);
    await expect(replaceFileAsync(fs, join(link, "f"), "x")).rejects.toMatchObject(refusal);
    expect(readdirSync(folder)).toEqual([]);
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
    for (const name of ["link", "link/", "link//", "link/."]) {
      expect(() => ensurePrivateDirectory(fs, `${root}/${name}`)).toThrow("is a symbolic link");
      expect(() => replaceFile(fs, `${root}/${name}/f`, "x")).toThrow("is a symbolic link");
    }
  });

  it("I144 knows whether an open file still has its name, whatever way leads there", () => {
    const named = (name: string): number => {
      writeFileSync(join(root, name), "");
      return fs.open(join(root, name), 0);
    };
    mkdirSync(join(root, "d"));
    symlinkSync(join(root, "d"), join(root, "link"));
    const opened = ["d/kept", "d/removed", "d/replaced", "d/moved"].map(named);
    unlinkSync(join(root, "d/removed"));
    writeFileSync(join(root, "new"), "");
    renameSync(join(root, "new"), join(root, "d/replaced"));
    renameSync(join(root, "d/moved"), join(root, "elsewhere"));
    const names = ["kept", "removed", "replaced", "moved"];
    const asked = (way: string): unknown =>
      names.map((name, index) => fs.hasName(opened[index] ?? -1, join(way, name)));
    for (const way of [join(root, "d"), join(root, "link"), relative(process.cwd(), join(root, "d"))])
      expect(asked(way)).toEqual([true, false, false, false]);
    renameSync(join(root, "d"), join(root, "e"));
    expect(asked(join(root, "d"))).toEqual([false, false, false, false]);
    for (const fd of opened) fs.close(fd);
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

const refused = (code: string): Error => Object.assign(new Error(code), { code });

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

  it("I109 says that a file is published, when only its durability is in doubt", () => {
    const disk = new SimulatedDisk();
    disk.inject({ call: "fsync", errno: "EIO", pathEnds: "/" });
    const error = thrownBy(() => publishFile(disk, "/p", "x"));
    expect(error).toMatchObject({ code: "published_not_durable", data: { path: "/p" }, cause: { code: "EIO" } });
    expect([isInPlace(error), disk.readdir("/"), publishFile(disk, "/p", "y")]).toEqual([
      true,
      ["p"],
      { kind: "exists" },
    ]);
    disk.inject({ call: "write", errno: "EIO" });
    expect(thrownBy(() => publishFile(disk, "/q", "x"))).toMatchObject({ code: "not_published" });
    expect(disk.readdir("/")).toEqual(["p"]);
  });

  it.each(["none", "all"] as const)(
    "I109 is certain of nothing when the reply of a link is lost (done: %s) and its look fails",
    (effect) => {
      const disk = new SimulatedDisk();
      disk.inject({ call: "link", errno: "ESTALE", effect });
      disk.inject({ call: "lstat", errno: "EIO", pathEnds: "/p" });
      const error = thrownBy(() => publishFile(disk, "/p", "x"));
      expect(error).toMatchObject({ code: "maybe_published", data: { path: "/p" }, cause: { code: "ESTALE" } });
      expect([isInPlace(error), mayBeInPlace(error), disk.readdir("/")]).toEqual([
        false,
        true,
        effect === "all" ? ["p"] : [],
      ]);
    },
  );

  it.each(["EIO", "ENOENT"])(
    "I109 does not call a link undone that can still be made: %s of the temporary",
    (errno) => {
      const disk = new SimulatedDisk();
      disk.inject({ call: "link", errno: "ESTALE" });
      disk.inject({ call: "unlink", errno });
      expect(thrownBy(() => publishFile(disk, "/p", "x"))).toMatchObject({ code: "maybe_published" });
    },
  );

  it("I109 leaves no marker whose mode could not be set", () => {
    const disk = new SimulatedDisk();
    disk.inject({ call: "fchmod", errno: "EIO" });
    expect(() => createMarkerFile(disk, "/m")).toThrow("EIO");
    expect([disk.readdir("/"), disk.openDescriptors]).toEqual([[], 0]);
  });

  it.each(["/", "/m"])("I109 leaves no marker that its maker does not know of, when the sync of %s fails", (path) => {
    const disk = new SimulatedDisk();
    disk.inject({ call: "fsync", errno: "EIO", pathEnds: path });
    expect(() => createMarkerFile(disk, "/m")).toThrow("EIO");
    expect(disk.readdir("/")).toEqual([]);
    createMarkerFile(disk, "/m");
    expect(disk.openDescriptors).toBe(0);
  });

  it("takes a directory that cannot be synced for durable on Windows alone", () => {
    for (const code of ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EPERM", "EISDIR"]) {
      expect([code, isUnsupported(refused(code), "win32"), isUnsupported(refused(code), "linux")]).toEqual([
        code,
        true,
        false,
      ]);
    }
    expect(isUnsupported(refused("EIO"), "win32")).toBe(false);
  });

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
