import { once } from "node:events";
import { appendFileSync, linkSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { describe, expect, it } from "vitest";
import { createProjectTrustAuthority } from "./authority.ts";
import { granted, only, verdictOf } from "./authority.testing.ts";
import { Temporary } from "./temporary.testing.ts";
import { DEFAULT_READ_BYTES, MAX_LISTED_NAMES, MAX_READ_BYTES, type TrustedRoot } from "./trusted-root.ts";
import { systemError, WatchedCalls } from "./watched-calls.testing.ts";

/** A file that is no regular one. */
async function listening(path: string): Promise<{ readonly server: Server } & AsyncDisposable> {
  const server = createServer().listen(path);
  await once(server, "listening");
  return { server, [Symbol.asyncDispose]: async () => void (await once(server.close(), "close")) };
}

/** Runs in the directory `root` of the temporary one; all descriptors but the pin's must be closed again. */
async function inside<T>(temporary: Temporary, operation: (root: TrustedRoot, calls: WatchedCalls) => T): Promise<T> {
  const calls = new WatchedCalls();
  using authority = createProjectTrustAuthority({ policy: [temporary.directory("root")], calls });
  const binding = granted(authority.authorize(temporary.at("root")));
  const outcome = await authority.withBinding(binding, (root) => {
    const value = operation(root, calls);
    expect(calls.descriptors.size).toBe(1);
    return value;
  });
  return only(outcome, "done").value;
}

describe("reading in a trusted directory", () => {
  it("gives the bytes of a file, and says what is not there", async () => {
    using temporary = new Temporary();
    temporary.file("root/a/b/config", "content");
    temporary.file("root/empty", "");
    const read = await inside(temporary, (root) =>
      ["a/b/config", "empty", "none", "none/config", "a/none"].map((path) => root.readFile(path)),
    );
    expect(read).toEqual([
      { kind: "file", bytes: Buffer.from("content") },
      { kind: "file", bytes: Buffer.alloc(0) },
      ...Array.from({ length: 3 }, () => ({ kind: "absent" })),
    ]);
  });

  it.each([
    ["..", "not_canonical"],
    ["../outside", "not_canonical"],
    ["a/../../outside", "not_canonical"],
    ["./config", "not_canonical"],
    ["", "not_canonical"],
    ["a//b", "not_canonical"],
    ["a/", "not_canonical"],
    ["/etc/passwd", "not_canonical"],
    ["config\0", "nul"],
    ["a".repeat(256), "too_long"],
  ])("I47 refuses %j", async (path, reason) => {
    using temporary = new Temporary();
    temporary.file("outside");
    temporary.file("root/config");
    temporary.file("root/a/b");
    expect(await inside(temporary, (root) => verdictOf(root.readFile(path)))).toBe(reason);
    expect(await inside(temporary, (root) => verdictOf(root.list(path)))).toBe(reason);
  });

  it("I47 follows no link, inside or out of it, at any depth", async () => {
    using temporary = new Temporary();
    temporary.file("outside/b/config", "foreign");
    temporary.file("root/a/b/config", "genuine");
    symlinkSync(temporary.at("outside", "b", "config"), temporary.at("root", "a", "b", "link"));
    symlinkSync("config", temporary.at("root", "a", "b", "near"));
    symlinkSync("nowhere", temporary.at("root", "a", "b", "dangling"));
    symlinkSync(temporary.at("outside", "b"), temporary.at("root", "a", "l"));
    symlinkSync(temporary.at("outside"), temporary.at("root", "l"));
    symlinkSync("/proc/self/cwd", temporary.at("root", "magic"));
    const paths = ["a/b/link", "a/b/near", "a/b/dangling", "a/l/config", "l/b/config", "magic/config"];
    expect(await inside(temporary, (root) => paths.map((path) => verdictOf(root.readFile(path))))).toEqual(
      paths.map(() => "symlink"),
    );
    expect(await inside(temporary, (root) => ["a/l", "l", "l/b"].map((path) => verdictOf(root.list(path))))).toEqual([
      "symlink",
      "symlink",
      "symlink",
    ]);
  });

  it("reads regular files alone", async () => {
    using temporary = new Temporary();
    temporary.directory("root", "directory");
    temporary.file("root/file");
    await using server = await listening(temporary.at("root", "socket"));
    expect(server.server.listening).toBe(true);
    const paths = ["directory", "socket", "file/below"];
    expect(await inside(temporary, (root) => paths.map((path) => verdictOf(root.readFile(path))))).toEqual([
      "not_a_file",
      "not_a_file",
      "not_a_directory",
    ]);
    expect(await inside(temporary, (root) => ["socket", "file"].map((path) => verdictOf(root.list(path))))).toEqual([
      "not_a_directory",
      "not_a_directory",
    ]);
  });

  it("I47 reads the very file that it has looked at, whatever has its name when it is opened", async () => {
    using temporary = new Temporary();
    temporary.file("root/config");
    temporary.file("secret");
    const read = await inside(temporary, (root, calls) => {
      let opens = 0;
      calls.before = (call) => {
        if (call !== "open" || (opens += 1) !== 2) return;
        renameSync(temporary.at("root", "config"), temporary.at("aside"));
        symlinkSync(temporary.at("secret"), temporary.at("root", "config"));
      };
      return [root.readFile("config"), opens];
    });
    expect(read).toEqual([{ kind: "file", bytes: Buffer.from("root/config") }, 2]);
  });

  it("refuses a file that has more bytes than allowed, 1 MiB if nothing is said", async () => {
    using temporary = new Temporary();
    temporary.file("root/whole", Buffer.alloc(DEFAULT_READ_BYTES, "x"));
    temporary.file("root/more", Buffer.alloc(DEFAULT_READ_BYTES + 1));
    temporary.file("root/small", "12345");
    let reads = 0;
    const [whole, more, ...small] = await inside(temporary, (root, calls) => {
      const first = root.readFile("whole");
      calls.before = (call) => void (reads += call === "read" ? 1 : 0);
      return [first, root.readFile("more"), ...[4, 5].map((maxBytes) => root.readFile("small", { maxBytes }))];
    });
    // Of the two that are too large nothing is read.
    expect(reads).toBe(2);
    expect(whole?.kind === "file" && whole.bytes.equals(Buffer.alloc(DEFAULT_READ_BYTES, "x"))).toBe(true);
    expect([more, ...small].map((read) => read && verdictOf(read))).toEqual(["too_large", "too_large", "file"]);
  });

  it.each([-1, 1.5, NaN, Infinity, MAX_READ_BYTES + 1])("takes %d for no limit", async (maxBytes) => {
    using temporary = new Temporary();
    await inside(temporary, (root) => expect(() => root.readFile("a", { maxBytes })).toThrow("maxBytes"));
  });

  it.each([
    [100, "file"],
    [1000, "file"],
    [1001, "too_large"],
    [100_000, "too_large"],
  ])("reads no further than allowed in a file that grows meanwhile: to %i bytes", async (size, verdict) => {
    using temporary = new Temporary();
    const file = temporary.file("root/log", "x".repeat(10));
    const [read, reads] = await inside(temporary, (root, calls) => {
      let count = 0;
      calls.before = (call) => {
        if (call === "read" && count === 0) appendFileSync(file, "y".repeat(size - 10));
        count += call === "read" ? 1 : 0;
      };
      return [root.readFile("log", { maxBytes: 1000 }), count] as const;
    });
    expect([verdictOf(read), reads < 8]).toEqual([verdict, true]);
    const text = read.kind === "file" ? read.bytes.toString() : "";
    expect(text).toBe(verdict === "file" ? "x".repeat(10) + "y".repeat(size - 10) : "");
  });

  it("gives what is there of a file that shrinks meanwhile", async () => {
    using temporary = new Temporary();
    const file = temporary.file("root/log", "x".repeat(100));
    const read = await inside(temporary, (root, calls) => {
      calls.before = (call) => void (call === "read" && writeFileSync(file, "short"));
      return root.readFile("log");
    });
    expect(read).toEqual({ kind: "file", bytes: Buffer.from("short") });
  });

  it("I47 does not cross to another mount", async () => {
    using temporary = new Temporary();
    temporary.file("root/a/config");
    for (const crossed of [2, 3]) {
      const verdicts = await inside(temporary, (root, calls) => {
        let looks = 0;
        calls.mount = (mount) => ((looks += 1) === crossed - 1 ? "another" : mount);
        return verdictOf(root.readFile("a/config"));
      });
      expect(verdicts).toBe("other_mount");
    }
  });

  it("I47 does not cross to a directory of another device; an overlay's files have that of their layer", async () => {
    using temporary = new Temporary();
    temporary.file("root/a/config");
    const foreign = temporary.at("root", "a");
    const verdicts = await inside(temporary, (root, calls) => {
      const inode = calls.lstat(foreign)?.inode;
      return ["directory", "file"].map((kind) => {
        calls.sees = (seen) =>
          seen.kind === kind && (kind === "file" || seen.inode === inode)
            ? { ...seen, device: seen.device + 1n }
            : seen;
        return verdictOf(root.readFile("a/config"));
      });
    });
    expect(verdicts).toEqual(["other_mount", "file"]);
  });

  it("lists names with their kinds, itself too, and counts those that no string can say", async () => {
    using temporary = new Temporary();
    temporary.file("root/a/file");
    temporary.directory("root", "a", "directory");
    symlinkSync("file", temporary.at("root", "a", "link"));
    linkSync(
      temporary.at("root", "a", "file"),
      Buffer.concat([Buffer.from(`${temporary.at("root", "a")}/`), Buffer.of(0xff)]),
    );
    const [own, below, none] = await inside(temporary, (root) => [root.list(), root.list("a"), root.list("none")]);
    expect(own).toEqual({ kind: "directory", names: [{ name: "a", kind: "directory" }], unnamed: 0 });
    expect(below).toEqual({
      kind: "directory",
      names: expect.arrayContaining([
        { name: "file", kind: "file" },
        { name: "directory", kind: "directory" },
        { name: "link", kind: "symlink" },
      ]),
      unnamed: 1,
    });
    expect(below?.kind === "directory" && below.names.length).toBe(3);
    expect(none).toEqual({ kind: "absent" });
  });

  it("lists at most 10,000 names", async () => {
    using temporary = new Temporary();
    temporary.directory("root", "many");
    const listed = await inside(temporary, (root, calls) => {
      calls.lists = () => Array.from({ length: MAX_LISTED_NAMES + 1 }, (_, index) => String(index));
      const more = verdictOf(root.list("many"));
      calls.lists = () => Array.from({ length: MAX_LISTED_NAMES }, (_, index) => String(index));
      return [more, verdictOf(root.list("many"))];
    });
    expect(listed).toEqual(["too_large", "directory"]);
  });

  it("I122 closes all that it opened, whichever call fails", async () => {
    using temporary = new Temporary();
    temporary.file("root/a/b/config");
    await inside(temporary, (root, calls) => {
      const before = calls.count;
      root.readFile("a/b/config");
      root.list("a/b");
      const all = calls.count - before;
      expect(all).toBeGreaterThan(25);
      for (let nth = 1; nth <= all; nth += 1) {
        let count = 0;
        let failed = "";
        calls.before = (call) => {
          if ((count += 1) !== nth) return;
          failed = call;
          throw systemError("EMFILE");
        };
        const verdicts = [verdictOf(root.readFile("a/b/config")), verdictOf(root.list("a/b"))];
        expect({ nth, failed, told: verdicts.includes("unreadable") }).toEqual({
          nth,
          failed,
          told: failed !== "close",
        });
        expect(calls.descriptors.size).toBe(1);
        calls.before = () => {};
      }
    });
  });
});
