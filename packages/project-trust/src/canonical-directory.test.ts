import { symlinkSync } from "node:fs";
import { relative } from "node:path";
import { describe, expect, it } from "vitest";
import { createProjectTrustAuthority } from "./authority.ts";
import { verdictOf } from "./authority.testing.ts";
import { canonicalDirectory } from "./canonical-directory.ts";
import { Temporary } from "./temporary.testing.ts";
import { folding, systemError, WatchedCalls } from "./watched-calls.testing.ts";

describe("the canonical spelling of a directory", () => {
  it("I47 is found for any other one, with what is there, and is what an authority takes", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a", "b");
    symlinkSync("a", temporary.at("link"));
    symlinkSync(directory, temporary.at("a", "absolute"));
    const spellings = [
      directory,
      `${directory}/`,
      `${directory}//.`,
      temporary.at("link", "b"),
      `${temporary.path}/link/absolute/../b`,
      relative(process.cwd(), directory),
    ];
    for (const spelling of spellings)
      expect(canonicalDirectory(spelling)).toMatchObject({ kind: "canonical", identity: { directory } });
    using authority = createProjectTrustAuthority({ policy: [directory] });
    expect(spellings.map((spelling) => verdictOf(authority.authorize(spelling)))).toEqual([
      "granted",
      "not_canonical",
      "not_canonical",
      "not_listed",
      "not_canonical",
      "not_absolute",
    ]);
    expect(canonicalDirectory("/")).toMatchObject({ identity: { directory: "/" } });
  });

  it("I47 is the one that the disk keeps, where it folds case", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("Work");
    temporary.directory("other");
    const calls = new WatchedCalls();
    calls.finds = folding("Work");
    calls.realpathOf = (path) => path;
    for (const spelling of ["work", "WORK", "Work"])
      expect(canonicalDirectory(temporary.at(spelling), calls)).toMatchObject({ identity: { directory } });
    expect(calls.descriptors.size).toBe(0);
    calls.before = (call) => {
      if (call === "names") throw systemError("EACCES");
    };
    expect(canonicalDirectory(temporary.at("work"), calls)).toMatchObject({ reason: "unreadable" });
    expect(calls.descriptors.size).toBe(0);
  });

  it("says why there is none", () => {
    using temporary = new Temporary();
    const file = temporary.file("file");
    symlinkSync("loop", temporary.at("loop"));
    const paths = [temporary.at("none"), file, `${file}/below`, temporary.at("loop"), "x".repeat(300), "a\0b"];
    expect(paths.map((path) => verdictOf(canonicalDirectory(path)))).toEqual([
      "missing",
      "not_a_directory",
      "not_a_directory",
      "unreadable",
      "too_long",
      "nul",
    ]);
    expect(verdictOf(canonicalDirectory("/", new WatchedCalls(), "darwin"))).toBe("unsupported_platform");
  });

  it("I122 closes all that it opened, whichever call fails", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a", "1");
    const calls = new WatchedCalls();
    expect(verdictOf(canonicalDirectory(directory, calls))).toBe("canonical");
    const all = calls.count;
    expect(all).toBeGreaterThan(30);
    for (let nth = 1; nth <= all; nth += 1) {
      let count = 0;
      calls.before = () => {
        if ((count += 1) === nth) throw systemError("EMFILE");
      };
      expect(["unreadable", "canonical"]).toContain(verdictOf(canonicalDirectory(directory, calls)));
      expect([nth, calls.descriptors.size]).toEqual([nth, 0]);
    }
  });
});
