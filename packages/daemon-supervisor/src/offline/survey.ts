import { homesHeldBy, verdictOf } from "@holdfast/session-worker/transport";
import { createObserver, reasonOf, sharesMounts, startIdOf } from "@holdfast/shared-process";
import type { EnvironmentScan, FoundProcess, ProcessObserver } from "@holdfast/shared-process";
import { MARKER_NAME } from "../names.ts";
import { heldByWorker } from "../worker-process.ts";
import { workerCgroups } from "../effects/leftovers.ts";
import { canonical, discoverHomes, scanHoldfast } from "./discover.ts";
import { viewHome } from "./home-view.ts";
import type { HomeView } from "./home-view.ts";
import { findOrphans } from "./orphans.ts";
import type { KnownMarker, Orphan } from "./orphans.ts";
import { retainedOf } from "./retained.ts";

/** What of Holdfast this user runs on this machine, at one moment. */
export interface Survey {
  readonly scan: EnvironmentScan;
  /** The home that was asked for comes first. */
  readonly homes: readonly HomeView[];
  readonly orphans: readonly Orphan[];
  /** What could not be seen: nothing that is missing here is proven to be missing (I117). */
  readonly problems: readonly string[];
}

/**
 * Processes first, records after them: a descriptor is written before its agent starts, so an agent that was seen has been
 * named by the time the records are read.
 */
export function survey(home: string, remembered: readonly KnownMarker[] = []): Survey {
  const scan = scanHoldfast();
  const observer = createObserver({ mode: "narrow", library: "for-signals" });
  const seen = discoverHomes(home, scan).map(({ home: path, holders }) => viewHome(path, holders, observer));
  const homes = isExplained(scan, seen) ? seen : seen.map(withRetained);
  const byPath = new Map(homes.map((view) => [canonical(view.home), view]));
  const homeOf = (path: string): HomeView | undefined => byPath.get(canonical(path));
  const orphans = findOrphans({ scan, homes, homeOf, remembered, heldByWorker, homesHeldBy, sharesMounts });
  const problems = homes.flatMap((view) => view.problems);
  return {
    scan,
    homes,
    orphans: [...orphans, ...retainedOnly(homes, orphans, observer)],
    problems: scan.problem === undefined ? problems : [scan.problem, ...problems],
  };
}

/** Whether a descriptor names the marker of every process that has one, and every cgroup. Only then the journals need not be read. */
function isExplained({ processes }: EnvironmentScan, homes: readonly HomeView[]): boolean {
  const named = homes.flatMap(({ workers }) => workers.map(({ descriptor }) => descriptor.process));
  const markers = new Set(named.map(({ marker }) => marker));
  const cgroups = new Set(named.map(({ cgroupPath }) => cgroupPath));
  const left = homes.flatMap(({ home }) => workerCgroups(home)).filter(({ path }) => !cgroups.has(path));
  const isKnown = ({ values: { [MARKER_NAME]: marker } }: FoundProcess): boolean =>
    marker === undefined || markers.has(marker);
  return left.length === 0 && processes.every(isKnown);
}

function withRetained(view: HomeView): HomeView {
  try {
    return { ...view, retained: retainedOf(view.home) };
  } catch (error) {
    return { ...view, problems: [...view.problems, `${view.home}: ${reasonOf(error)}`] };
  }
}

/** Left by an earlier stop and still running, though the scan did not show it as anybody's. */
function retainedOnly(homes: readonly HomeView[], orphans: readonly Orphan[], observer: ProcessObserver): Orphan[] {
  const isListed = (pid: number): boolean => orphans.some(({ identity }) => identity.pid === pid);
  return homes.flatMap(({ home, retained }) =>
    retained
      .filter(
        ({ identity }) =>
          !isListed(identity.pid) && verdictOf(observer, { identity, lifelinePath: null }).kind === "current",
      )
      .map(({ identity, sessionId, marker, marked }) => {
        const proof = { name: MARKER_NAME, value: marker };
        const found = { id: startIdOf(identity), identity, command: "?", proof, byIdentity: !marked };
        return { ...found, workerId: sessionId, home, doubt: null };
      }),
  );
}
