import { nodeFileSystem } from "@holdfast/recovery-journal";
import { compareIdentities, environmentValues, openPaths, placeOf } from "@holdfast/shared-process";
import type { Place, ProcessIdentity, Spare } from "@holdfast/shared-process";
import { topOwner } from "./owner-files.ts";

/** What the supervisor calls itself (at most 15 bytes, the kernel's limit), so that a scan can tell it from its workers. */
export const SUPERVISOR_TITLE = "holdfastd";

const HOME_NAME = "HOLDFAST_HOME";
export const MARKER_NAME = "HOLDFAST_SESSION";
const GENERATION_NAME = "HOLDFAST_GENERATION";

const LIFELINE = /^(\/.*)\/run\/owner-[^/]*\.alive(?: \(deleted\))?$/;
/** Open in every supervisor, also where no lifeline could be made. */
const LOG = /^(\/.*)\/logs\/supervisor\.log(?: \(deleted\))?$/;

export interface HeldHomes {
  /** False: what it has open cannot be read, so nothing can be said of it. */
  readonly readable: boolean;
  /** Homes whose owner's lifeline it holds: those that have this name here. */
  readonly lifelines: readonly string[];
  /** Those, and homes whose log it writes. */
  readonly all: readonly string[];
  /** Where all that lies; another home may have the same name in another mount namespace. */
  readonly places: ReadonlySet<Place>;
}

/** The homes that a process holds as their supervisor does, whatever its environment says. */
export function homesHeldBy(pid: number): HeldHomes {
  const open = openPaths(pid);
  if (open.kind === "unreadable")
    return { readable: open.why === "vanished", lifelines: [], all: [], places: new Set() };
  const places = new Set<Place>();
  const matching = (pattern: RegExp): string[] =>
    open.open.flatMap((one) => {
      const home = pattern.exec(one.path)?.[1];
      if (home === undefined) return [];
      const place = placeOf(pid, one);
      places.add(place);
      return place === "here" ? [home] : [];
    });
  const lifelines = [...new Set(matching(LIFELINE))];
  return { readable: true, lifelines, all: [...new Set([...lifelines, ...matching(LOG)])], places };
}

/**
 * Whether a process is the supervisor that a home's record names. Started in the foreground inside a session it carries that
 * session's marker, but it is not the session's: no sweep touches it (DESIGN §3.3). What cannot be told is spared.
 */
export const isRecordedSupervisor: Spare = ({ identity, command }) => {
  if (command !== SUPERVISOR_TITLE) return false;
  const held = homesHeldBy(identity.pid);
  const isSeen = held.readable && !held.places.has("elsewhere") && !held.places.has("unknown");
  return !isSeen || held.all.some((home) => mayOwn(home, identity));
};

function mayOwn(home: string, identity: ProcessIdentity): boolean {
  try {
    const top = topOwner(nodeFileSystem, home);
    if (top.kind === "none") return false;
    if (top.kind !== "found") return true;
    const { kind } = compareIdentities(top.record.identity, identity);
    return top.record.phase !== "stopped" && (kind === "current" || kind === "unknown");
  } catch {
    // Its records are there and cannot be read now: nothing says that it is not their owner.
    return true;
  }
}

/**
 * Whether a process that seems to belong to a session is Holdfast's own all the same: a recorded supervisor, or one that was started
 * detached from inside the session, or such a one's worker (I153).
 */
export const isNested: Spare = (found) => isRecordedSupervisor(found) || isOwnProgram(found.identity.pid);

/** Its standard error, from before it runs: no record and no title names it yet. */
const SUPERVISOR_ERRORS = /^\/.*\/logs\/supervisor\.err(?: \(deleted\))?$/;

/**
 * Its environment names a home and carries no session's marker, which an agent's always does. Anybody can write that much, so that it
 * also takes what Holdfast gives to its programs alone: the generation of a worker, or the file of a supervisor's errors.
 */
function isOwnProgram(pid: number): boolean {
  const values = environmentValues(pid, [HOME_NAME, MARKER_NAME, GENERATION_NAME]);
  if (values?.[HOME_NAME] === undefined || values[MARKER_NAME] !== undefined) return false;
  if (values[GENERATION_NAME] !== undefined) return true;
  const open = openPaths(pid);
  // What cannot be told is spared; whoever has ended needs no sparing.
  if (open.kind === "unreadable") return open.why !== "vanished";
  return open.open.some(({ path }) => SUPERVISOR_ERRORS.test(path));
}
