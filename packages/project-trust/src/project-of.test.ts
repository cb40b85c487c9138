import { symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { projectOf } from "./project-of.ts";
import { Temporary } from "./temporary.testing.ts";
import { systemError, WatchedCalls } from "./watched-calls.testing.ts";

describe("the project of a directory", () => {
  it("is the top level of the git work tree that holds it, each work tree on its own", () => {
    using temporary = new Temporary();
    temporary.directory("repository", ".git", "worktrees");
    temporary.directory("repository", "a", "b");
    temporary.file("repository/a/linked/.git", "gitdir: ../../.git/worktrees/linked");
    temporary.directory("repository", "a", "linked", "c");
    temporary.directory("outside");
    const cases = [
      ["repository", "repository"],
      ["repository/a/b", "repository"],
      ["repository/a/linked", "repository/a/linked"],
      ["repository/a/linked/c", "repository/a/linked"],
    ] as const;
    for (const [directory, project] of cases)
      expect(projectOf(temporary.at(directory))).toEqual({
        kind: "project",
        directory: temporary.at(project),
        by: "git",
      });
  });

  it("is the directory itself where there is none above", () => {
    using temporary = new Temporary();
    const directory = temporary.directory("a", "b");
    const calls = new WatchedCalls();
    const asked: string[] = [];
    calls.before = (_call, path) => void asked.push(path);
    expect(projectOf(directory, calls)).toEqual({ kind: "project", directory, by: "itself" });
    expect([asked[0], asked[1], asked.at(-1)]).toEqual([`${directory}/.git`, temporary.at("a", ".git"), "/.git"]);
    expect(projectOf("/")).toMatchObject({ directory: "/" });
  });

  it("goes by a link named .git, as git does", () => {
    using temporary = new Temporary();
    temporary.directory("elsewhere");
    symlinkSync("../elsewhere", `${temporary.directory("a")}/.git`);
    expect(projectOf(temporary.directory("a", "b"))).toEqual({
      kind: "project",
      directory: temporary.at("a"),
      by: "git",
    });
  });

  it("is not guessed where it cannot be told", () => {
    using temporary = new Temporary();
    const calls = new WatchedCalls();
    calls.before = (_call, path) => {
      if (path === temporary.at(".git")) throw systemError("EACCES");
    };
    expect(projectOf(temporary.directory("a"), calls)).toMatchObject({ kind: "denied", reason: "unreadable" });
  });

  it.each([
    ["a/b", "not_absolute"],
    ["/a/../b", "not_canonical"],
    [7, "not_a_string"],
  ])("I47 is that of a canonical path: not %j", (path, reason) => {
    expect(projectOf(path)).toMatchObject({ kind: "denied", reason });
  });
});
