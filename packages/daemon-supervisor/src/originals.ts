import { createObserver, probeLifeline } from "@holdfast/shared-process";
import { verdictOf } from "@holdfast/session-worker/transport";
import type { FileSystem } from "@holdfast/recovery-journal";
import { basename, dirname } from "node:path";
import type { Descriptor } from "./descriptor.ts";
import { compareHomes, runFolder } from "./home.ts";
import { heldBy } from "./worker-process.ts";

/** It has the path of one here in another mount namespace, or something is mounted over it. */
const UNSEEN = "a home that cannot be seen from here";

/**
 * The home that the worker of a descriptor belongs to, where that is not this one, or cannot be told from another: this home is a copy, and
 * the worker is the original's (I131, I147). `null`: it is this one's. A worker holds its lifeline, which goes along with a home that is
 * moved and is another file in a copy; where it holds none that can be seen, the path in the record decides.
 */
export function originalOf(fs: FileSystem, home: string, process: Descriptor["process"]): string | null {
  const { lifelinePath, socketPath } = process;
  const folder = dirname(lifelinePath ?? socketPath);
  const isOwn = folder === runFolder(home);
  if (lifelinePath === null) return isOwn ? null : namedBy(fs, home, folder);
  const name = basename(lifelinePath);
  if (probeLifeline(`${runFolder(home)}/${name}`) === "held") return null;
  const isCurrent = verdictOf(createObserver({ mode: "narrow" }), process).kind === "current";
  const held = isCurrent ? heldBy(process.identity.pid, name) : null;
  if (held?.place === "elsewhere" || held?.place === "unknown") return UNSEEN;
  if (held?.home) return compareHomes(fs, home, held.home) === "same" ? null : held.home;
  if (isOwn) return null;
  // Where its home was there is none now. This one may have been moved from there; who lives is another's.
  return (
    namedBy(fs, home, folder) ??
    (isCurrent && compareHomes(fs, home, dirname(folder)) !== "same" ? dirname(folder) : null)
  );
}

function namedBy(fs: FileSystem, home: string, folder: string): string | null {
  if (basename(folder) !== "run") return null;
  const compared = compareHomes(fs, home, dirname(folder));
  return compared === "another" || compared === "unknown" ? dirname(folder) : null;
}
