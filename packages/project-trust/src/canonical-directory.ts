import { errnoOf, reasonOf } from "@holdfast/shared-process";
import type { DirectoryCalls, Seen } from "./calls.ts";
import { canonicalPath, componentsOf } from "./canonical.ts";
import { AS_DIRECTORY, below, closeDescriptor, pathOf } from "./descriptors.ts";
import type { DirectoryIdentity } from "./identity.ts";
import { nodeCalls } from "./node-calls.ts";
import { lookAt } from "./pin.ts";
import { platformProblem } from "./platform.ts";
import { type Denied, denied, pathDetail } from "./reasons.ts";
import { spellingOf } from "./spelling.ts";
import { stepInto } from "./walk.ts";

export type CanonicalDirectory = { readonly kind: "canonical"; readonly identity: DirectoryIdentity } | Denied;

/**
 * From any spelling (relative, through links, in another case) to the exact path, and what is there now: what a person
 * is asked about before trusting it. What comes of it is walked as a trusted directory is, so that an authority will
 * take the same path.
 */
export function canonicalDirectory(
  path: string,
  calls: DirectoryCalls = nodeCalls,
  platform: string = process.platform,
): CanonicalDirectory {
  const problem = platformProblem(platform, calls);
  if (problem !== null) return problem;
  if (path.includes("\0")) return denied("nul", pathDetail("nul"));
  try {
    const resolved = canonicalPath(calls.realpath(path));
    if (resolved.kind === "refused") return denied(resolved.reason, `${path} leads to no path that can be said`);
    const directory = asListed(calls, resolved.path);
    const found = directory.kind === "denied" ? directory : lookAt(calls, directory.path);
    return found.kind === "denied" ? found : { kind: "canonical", identity: found.identity };
  } catch (error) {
    return fromError(path, error);
  }
}

function fromError(path: string, error: unknown): Denied {
  const errno = errnoOf(error);
  if (errno === "ENOENT") return denied("missing", `${path} is not there`);
  if (errno === "ENOTDIR") return denied("not_a_directory", `${path} leads through something that is no directory`);
  return denied(errno === "ENAMETOOLONG" ? "too_long" : "unreadable", `${path}: ${reasonOf(error)}`);
}

/**
 * The path with each component as its parent lists it: realpath(3) keeps the case in which it was asked. Throws system
 * errors.
 */
function asListed(calls: DirectoryCalls, path: string): Denied | { readonly kind: "listed"; readonly path: string } {
  let parent = calls.open("/", AS_DIRECTORY);
  let listed = "";
  try {
    for (const name of componentsOf(path)) {
      const step = stepInto(calls, parent, { name, path: `${listed}/${name}` });
      if (step.kind === "denied") return step;
      const above = parent;
      parent = step.descriptor;
      try {
        const isExact = spellingOf(calls, above, { name, seen: step.seen }) === "exact";
        listed += `/${isExact ? name : listedAs(calls, above, { name, seen: step.seen })}`;
      } finally {
        closeDescriptor(calls, above);
      }
    }
    return { kind: "listed", path: listed === "" ? "/" : listed };
  } finally {
    closeDescriptor(calls, parent);
  }
}

/**
 * The name in the list that leads to the same directory. Where none does, the one that was asked: the walk will refuse
 * it.
 */
function listedAs(
  calls: DirectoryCalls,
  parent: number,
  { name, seen }: { readonly name: string; readonly seen: Seen },
): string {
  for (const listed of calls.names(pathOf(parent))) {
    const candidate = Buffer.from(listed, "latin1").toString();
    const there = calls.lstat(below(parent, candidate));
    if (there?.device === seen.device && there.inode === seen.inode) return candidate;
  }
  return name;
}
