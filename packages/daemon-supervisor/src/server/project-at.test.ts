import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { projectAt } from "./project-at.ts";

let root: string;
const at = (path: string): string => join(root, path);
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "project-")));
  for (const folder of ["tree/.git", "tree/sub", "plain/sub", "tree/linked"])
    mkdirSync(at(folder), { recursive: true });
  writeFileSync(at("tree/linked/.git"), "gitdir: ../.git/worktrees/linked");
  symlinkSync(at("tree/sub"), at("plain/link"));
});
afterEach(() => rmSync(root, { recursive: true }));

it("I160 is one and the same for all ways that lead to it", () => {
  for (const way of ["tree", "tree/", "tree/sub", "plain/link", "plain/link/"])
    expect(projectAt(`${root}/${way}`)).toBe(at("tree"));
});

it("is the work tree that holds the directory, each on its own, else the directory", () => {
  expect(projectAt(at("tree/linked"))).toBe(at("tree/linked"));
  expect(projectAt(at("plain/sub"))).toBe(at("plain/sub"));
});
