import { reasonOf } from "@holdfast/shared-process";
import { dirname } from "node:path";
import type { DirectoryCalls } from "./calls.ts";
import { canonicalPath } from "./canonical.ts";
import { nodeCalls } from "./node-calls.ts";
import { type Denied, denied, pathDetail } from "./reasons.ts";

/** `by`: what made it one, a `.git` in it or that there is none above. */
export type Project = { readonly kind: "project"; readonly directory: string; readonly by: "git" | "itself" } | Denied;

/**
 * The project that a directory belongs to: the top level of the git work tree that it is in, each work tree on its own,
 * else the directory itself. `.git` is a directory there, or a file in a linked work tree and a submodule. Denied: a
 * path that is not canonical, and `unreadable` where it cannot be told whether there is a `.git`, so that a directory
 * below is not taken for a project.
 */
export function projectOf(directory: unknown, calls: DirectoryCalls = nodeCalls): Project {
  const path = canonicalPath(directory);
  if (path.kind === "refused") return denied(path.reason, pathDetail(path.reason));
  for (let at = path.path; ; at = dirname(at)) {
    try {
      if (hasGit(calls, at)) return { kind: "project", directory: at, by: "git" };
    } catch (error) {
      return denied("unreadable", reasonOf(error));
    }
    if (at === "/") return { kind: "project", directory: path.path, by: "itself" };
  }
}

function hasGit(calls: DirectoryCalls, directory: string): boolean {
  const name = directory === "/" ? "/.git" : `${directory}/.git`;
  // A name of 255 bytes below a path near the limit is longer than a path may be: nothing is there, either.
  if (canonicalPath(name).kind === "refused") return false;
  const kind = calls.lstat(name)?.kind;
  return kind !== undefined && kind !== "other";
}
