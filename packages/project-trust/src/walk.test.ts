import { mkdirSync, renameSync, rmdirSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { only, verdictOf } from "./authority.testing.ts";
import { closeDescriptor } from "./descriptors.ts";
import { lookAt, pinDirectory } from "./pin.ts";
import { Temporary } from "./temporary.testing.ts";
import { walkTo } from "./walk.ts";
import { systemError, WatchedCalls } from "./watched-calls.testing.ts";

const LETTERS = ["a", "b", "c", "d"];

describe("the walk to a directory", () => {
  it("reaches the directory that a path names", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a", "b");
    const calls = new WatchedCalls();
    expect(lookAt(calls, directory)).toMatchObject({
      kind: "found",
      identity: { directory, inode: calls.lstat(directory)?.inode, birthTimeNs: calls.lstat(directory)?.birthTimeNs },
    });
    expect(lookAt(calls, "/")).toMatchObject({ kind: "found", identity: { directory: "/" } });
    expect(calls.descriptors.size).toBe(0);
  });

  it.each([0, 1, 2, 3])("I47 I160 follows no link, at any depth: %i", (depth) => {
    using temporary = new Temporary();
    const directory = temporary.directory(...LETTERS);
    const calls = new WatchedCalls();
    expect(lookAt(calls, directory).kind).toBe("found");
    const place = temporary.at(...LETTERS.slice(0, depth + 1));
    renameSync(place, temporary.at("moved"));
    symlinkSync(temporary.at("moved"), place);
    expect(lookAt(calls, directory)).toEqual({
      kind: "denied",
      reason: "symlink",
      detail: `${place} is a symbolic link`,
    });
    expect(calls.descriptors.size).toBe(0);
  });

  it.each([0, 1, 2, 3])("I47 says what is missing, or is no directory, at any depth: %i", (depth) => {
    using temporary = new Temporary();
    const place = LETTERS.slice(0, depth + 1);
    temporary.directory(...place.slice(0, -1));
    const calls = new WatchedCalls();
    const look = (): unknown => lookAt(calls, temporary.at(...LETTERS));
    const at = temporary.at(...place);
    expect(look()).toEqual({ kind: "denied", reason: "missing", detail: `${at} is not there` });
    temporary.file(place.join("/"));
    expect(look()).toEqual({ kind: "denied", reason: "not_a_directory", detail: `${at} is not a directory` });
    expect(calls.descriptors.size).toBe(0);
  });

  it("I47 ends in the directory that was reached, whatever is put in the place of those above", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a", "b");
    const other = temporary.directory("other", "b");
    const calls = new WatchedCalls();
    const [genuine, foreign] = [calls.lstat(directory)?.inode, calls.lstat(other)?.inode];
    // At each call of the walk `a` is swapped, for a link and for another directory.
    const swaps = [
      (): void => symlinkSync(temporary.at("other"), temporary.at("a")),
      (): void => renameSync(temporary.at("other"), temporary.at("a")),
    ];
    for (const swap of swaps) {
      const found: unknown[] = [];
      for (let nth = 1, calling = true; calling; nth += 1) {
        let count = 0;
        let isSwapped = false;
        calls.before = () => {
          count += 1;
          if (count !== nth) return;
          isSwapped = true;
          renameSync(temporary.at("a"), temporary.at("aside"));
          swap();
        };
        const reached = walkTo(calls, directory);
        calls.before = () => {};
        found.push(reached.kind === "denied" ? reached.reason : reached.seen.inode);
        if (reached.kind === "reached") closeDescriptor(calls, reached.descriptor);
        calling = isSwapped;
        if (isSwapped) putBack(temporary);
      }
      // What is put there before its step is what the path names; from its step on it changes nothing.
      const step = found.indexOf(genuine);
      expect(step).toBeGreaterThan(5);
      expect(new Set(found.slice(0, step))).toEqual(new Set([swap === swaps[0] ? "symlink" : foreign]));
      expect(new Set(found.slice(step))).toEqual(new Set([genuine]));
      expect(found.length).toBeGreaterThan(step + 5);
    }
    expect(calls.descriptors.size).toBe(0);
  });
});

function putBack(temporary: Temporary): void {
  const calls = new WatchedCalls();
  if (calls.lstat(temporary.at("a"))?.kind === "directory") renameSync(temporary.at("a"), temporary.at("other"));
  else renameSync(temporary.at("a"), temporary.at("link-of-before"));
  renameSync(temporary.at("aside"), temporary.at("a"));
}

describe("a pin", () => {
  it("I122 is closed on every way out, whichever call fails, and says that it cannot tell", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a", "1");
    const calls = new WatchedCalls();
    const pinned = pinDirectory(calls, directory);
    const all = calls.count;
    if (pinned.kind === "pinned") pinned.pin.close();
    expect(all).toBeGreaterThan(15);
    for (const code of ["EMFILE", "EIO", "EACCES"])
      for (let nth = 1; nth <= all; nth += 1) {
        let count = 0;
        let failed = "";
        calls.before = (call) => {
          count += 1;
          if (count !== nth) return;
          failed = call;
          throw systemError(code);
        };
        const attempt = pinDirectory(calls, directory);
        // A close says nothing of what is to be known; and a parent that may not be listed is asked in another way.
        const isHarmless = failed === "close" || (failed === "names" && code === "EACCES");
        expect({ nth, failed, kind: attempt.kind }).toEqual({ nth, failed, kind: isHarmless ? "pinned" : "denied" });
        expect(["unreadable", "pinned"]).toContain(verdictOf(attempt));
        if (attempt.kind === "pinned") attempt.pin.close();
        expect({ nth, failed, open: [...calls.descriptors] }).toEqual({ nth, failed, open: [] });
      }
  });

  it("I122 stays open for those that use it, and is closed with the last", () => {
    using temporary = new Temporary();
    const calls = new WatchedCalls();
    const { pin } = only(pinDirectory(calls, temporary.path), "pinned");
    const [first, second] = [pin.use(), pin.use()];
    pin.close();
    first.release();
    first.release();
    expect([...calls.descriptors]).toEqual([pin.descriptor]);
    second.release();
    pin.close();
    expect(calls.descriptors.size).toBe(0);
    expect(() => pin.use()).toThrow("closed");
  });

  it("I160 keeps an inode number from being given to another directory", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a");
    const calls = new WatchedCalls();
    const pinned = only(pinDirectory(calls, directory), "pinned");
    for (let round = 0; round < 50; round += 1) {
      rmdirSync(directory);
      mkdirSync(directory);
      expect(calls.lstat(directory)?.inode).not.toBe(pinned.pin.identity.inode);
    }
    pinned.pin.close();
  });

  it("I122 denies where there is no /proc to walk in", () => {
    using temporary = new Temporary();
    const calls = new WatchedCalls();
    calls.proc = false;
    calls.before = (call, path) => {
      if (call === "open" && path.startsWith("/proc")) throw systemError("ENOENT");
    };
    expect(pinDirectory(calls, temporary.path)).toMatchObject({ kind: "denied", reason: "unsupported_platform" });
    expect(calls.descriptors.size).toBe(0);
  });
});
