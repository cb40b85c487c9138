import { createObserver, errnoOf, probeLifeline } from "@holdfast/shared-process";
import { homesHeldBy, sessionDirectory } from "@holdfast/session-worker/transport";
import type { FileSystem } from "@holdfast/recovery-journal";
import { basename, dirname } from "node:path";
import type { Descriptor } from "./descriptor.ts";
import { compareHomes, ownLifeline, runFolder } from "./home.ts";
import { heldBy } from "./worker-process.ts";

/** It has the path of one here in another mount namespace, or something is mounted over it. */
const UNSEEN = "a home that cannot be seen from here";

/**
 * The home that the worker of a descriptor belongs to, where that is not this one, or cannot be told from another: this home is a copy, and
 * the worker is the original's (I131, I147). `null`: it is this one's. A worker holds its lifeline, which goes along with a home that is
 * moved and is another file in a copy; where it holds none that can be seen, the path in the record decides.
 */
export function originalOf(
  fs: FileSystem,
  home: string,
  { sessionId, process }: Pick<Descriptor, "sessionId" | "process">,
): string | null {
  const { identity, lifelinePath, socketPath } = process;
  const recorded = lifelinePath ?? socketPath;
  const folder = dirname(recorded);
  const isOwn = folder === runFolder(home);
  if (lifelinePath === null) return isOwn ? null : namedBy(fs, home, { sessionId, recorded });
  if (isHeldHere(fs, ownLifeline(home, lifelinePath))) return null;
  // Not by the recorded lifeline: what has that path now may be a copy that nobody ever held.
  const isCurrent = createObserver({ mode: "narrow" }).verdict(identity).kind === "current";
  const held = isCurrent ? heldBy(identity.pid, basename(lifelinePath)) : null;
  if (held?.place === "elsewhere" || (held?.place === "unknown" && !held.isRemoved)) return UNSEEN;
  if (held?.home) return compareHomes(fs, home, held.home) === "same" ? null : held.home;
  if (isOwn) return null;
  // Where its home was there is none now, or another one. This one may have been moved from there; who lives is another's.
  return (
    namedBy(fs, home, { sessionId, recorded }) ??
    (isCurrent && compareHomes(fs, home, dirname(folder)) !== "same" ? dirname(folder) : null)
  );
}

/** In a copy that was made of hard links it is the same file; then the name that the worker holds decides. */
function isHeldHere(fs: FileSystem, path: string): boolean {
  try {
    return probeLifeline(path) === "held" && fs.lstat(path).nlink === 1n;
  } catch {
    // Removed in between, or not to be looked at: as if it were not there.
    return false;
  }
}

interface Named {
  readonly sessionId: string;
  /** In the `run/` of the home that a record names. */
  readonly recorded: string;
}

/** A home that was begun anew where this one was moved from knows nothing of the session. */
function namedBy(fs: FileSystem, home: string, { sessionId, recorded }: Named): string | null {
  const named = dirname(dirname(recorded));
  if (basename(dirname(recorded)) !== "run") return null;
  const compared = compareHomes(fs, home, named);
  const mayBeOriginal = compared === "another" || compared === "unknown";
  const isKnown = (): boolean => [sessionDirectory(named, sessionId), recorded].some((path) => mayBeThere(fs, path));
  return mayBeOriginal && isKnown() ? named : null;
}

function mayBeThere(fs: FileSystem, path: string): boolean {
  try {
    fs.lstat(path);
    return true;
  } catch (error) {
    return errnoOf(error) !== "ENOENT" && errnoOf(error) !== "ENOTDIR";
  }
}

/** Whose supervisor a process is by the lifelines that it holds; `null` where they do not say. */
export function supervisedBy(fs: FileSystem, pid: number, home: string): "this" | "another" | null {
  const { lifelines, places } = homesHeldBy(pid);
  const compared = lifelines.map((held) => compareHomes(fs, home, held));
  if (compared.includes("same")) return "this";
  if (lifelines.length === 0) return places.has("elsewhere") ? "another" : null;
  return !places.has("unknown") && compared.every((one) => one === "another") ? "another" : null;
}
