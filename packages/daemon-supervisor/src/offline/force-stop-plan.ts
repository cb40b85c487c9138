import { ownerFolder } from "@holdfast/session-worker/transport";
import { startIdOf } from "@holdfast/shared-process";
import type { ProcessIdentity } from "@holdfast/shared-process";
import { canonical } from "./discover.ts";
import { mayLive } from "./home-view.ts";
import type { HomeView, WorkerView } from "./home-view.ts";
import { workersFolder } from "../home.ts";
import type { KnownMarker, Orphan } from "./orphans.ts";
import { survey } from "./survey.ts";
import type { Survey } from "./survey.ts";

export type Kind = "daemon" | "worker" | "process" | "descriptor";

export interface Kept {
  readonly kind: Kind;
  readonly id: string;
  readonly reason: string;
}

export interface PlannedHome {
  readonly home: string;
  readonly daemons: readonly { readonly id: string; readonly pid: number; readonly identity: ProcessIdentity }[];
  readonly workers: readonly {
    readonly sessionId: string;
    readonly name: string | null;
    readonly pid: number;
    readonly verdict: string;
  }[];
  /** Sessions whose process is gone and whose record still speaks of one. */
  readonly descriptors: readonly { readonly sessionId: string; readonly name: string | null }[];
  /** Sessions of which no record names the worker that runs. */
  readonly orphaned: readonly string[];
  /** Why its owner cannot be observed: then nothing of the home is touched, and that is a failure. */
  readonly unknown: string | null;
  /** Why no stop can be recorded: then nothing of the home is stopped, and that is a failure. */
  readonly unwritable: string | null;
}

/** What stands in a report for each part of a home. */
export interface Entry {
  readonly kind: Kind;
  readonly id: string;
  readonly pid: number | null;
}

export interface ForceStopPlan {
  readonly homes: readonly PlannedHome[];
  readonly processes: readonly Orphan[];
  readonly kept: readonly Kept[];
  /** What runs of other homes, or of nobody that is known. */
  readonly untouched: { readonly daemons: number; readonly workers: number; readonly processes: number };
  readonly problems: readonly string[];
  /** For what the stops leave: their records are gone by then. */
  readonly markers: readonly KnownMarker[];
}

export interface ForceStopReport {
  readonly stopped: Entry[];
  readonly kept: Kept[];
  readonly failed: (Entry & { readonly reason: string })[];
}

export interface ForceStopRequest {
  readonly home: string;
  /** Every home of this user. */
  readonly all: boolean;
}

/** What would be stopped. Touches nothing. */
export const planForceStop = (request: ForceStopRequest): ForceStopPlan =>
  planFrom(survey(request.home), request, process.pid);

/** Pure. `self`: what runs above it is kept, since ending it would end this command before it is done. */
export function planFrom(seen: Survey, { all, home }: ForceStopRequest, self: number): ForceStopPlan {
  const isConcerned = (view: HomeView): boolean => all || canonical(view.home) === canonical(home);
  const concerned = seen.homes.filter(isConcerned);
  const others = seen.homes.filter((view) => !isConcerned(view));
  const above = new Set(seen.scan.ancestorsOf(self));
  const isOurs = (orphan: Orphan): boolean => all || concerned.some((view) => view.home === orphan.home);
  const unwritable = new Map(concerned.map((view) => [view.home, whyUnrecordable(view)]));
  const judged = seen.orphans.filter(isOurs).map((orphan) => {
    const refusal = orphan.home === null ? null : (unwritable.get(orphan.home) ?? null);
    return { orphan, reason: whyKept(orphan, above) ?? (refusal === null ? null : unrecordable(refusal)) };
  });
  const processes = judged.flatMap(({ orphan, reason }) => (reason === null ? [orphan] : []));
  const count = (of: (view: HomeView) => number): number => others.reduce((sum, view) => sum + of(view), 0);
  return {
    homes: concerned.map((view) => plannedHome(view, processes)),
    processes,
    kept: [
      ...concerned.flatMap(({ quarantined }) =>
        quarantined.map(({ sessionId: id, reason }) => ({ kind: "descriptor", id, reason }) as const),
      ),
      ...judged.flatMap(({ orphan, reason }) =>
        reason === null ? [] : [{ kind: "process", id: orphan.id, reason } as const],
      ),
    ],
    untouched: {
      daemons: count((view) => daemonsOf(view).length),
      workers: count((view) => view.workers.filter(mayLive).length),
      processes: seen.orphans.filter((orphan) => !isOurs(orphan)).length,
    },
    problems: seen.problems,
    markers: concerned.flatMap(markersOf),
  };
}

const whyKept = ({ identity, doubt }: Orphan, above: ReadonlySet<number>): string | null =>
  above.has(identity.pid) ? "this command runs inside it" : doubt;

const daemonsOf = ({ owner, lost }: HomeView): PlannedHome["daemons"] =>
  [...(owner.kind === "alive" ? [owner.record] : []), ...lost].map(({ identity }) => ({
    id: startIdOf(identity),
    pid: identity.pid,
    identity,
  }));

/** A failed session whose process is gone stays as it is: nothing brings it back but a person. */
const isStale = (worker: WorkerView): boolean =>
  !mayLive(worker) && (worker.descriptor.lifecycle !== "failed" || worker.descriptor.stop !== undefined);

/** What a boot for maintenance will find to do. */
export function plannedHome(view: HomeView, orphans: readonly Orphan[] = []): PlannedHome {
  const kept = new Set(view.quarantined.map(({ sessionId }) => sessionId));
  const workers = view.workers.filter(({ sessionId }) => !kept.has(sessionId));
  const stale = workers.filter(isStale).map(({ sessionId, record }) => ({ sessionId, name: record?.name ?? null }));
  const bare = view.bare.filter((sessionId) => !kept.has(sessionId)).map((sessionId) => ({ sessionId, name: null }));
  return {
    home: view.home,
    daemons: daemonsOf(view),
    workers: workers.filter(mayLive).map(({ sessionId, record, verdict, descriptor }) => {
      const { pid } = descriptor.process.identity;
      return { sessionId, name: record?.name ?? null, pid, verdict };
    }),
    descriptors: [...stale, ...bare],
    orphaned: orphans.flatMap(({ home, workerId }) => (home === view.home && workerId !== null ? [workerId] : [])),
    unknown: view.owner.kind === "unknown" ? view.owner.why : null,
    unwritable: whyUnrecordable(view),
  };
}

/** A claim and the intents need these two alone (DESIGN §3.3): each other record may follow later. */
function whyUnrecordable({ home, unwritable }: HomeView): string | null {
  const needed = [ownerFolder(home), workersFolder(home)];
  const found = unwritable.find(({ folder }) => needed.includes(folder));
  return found?.reason ?? null;
}

/** A stop is written down before anything is signalled, or the next daemon would bring its session back (I129). */
export const unrecordable = (reason: string): string => `nothing was signalled, as no stop can be recorded: ${reason}`;

/** As they stand in a report. */
export const entriesOf = ({ daemons, workers, descriptors }: PlannedHome): Entry[] => [
  ...daemons.map(({ id, pid }) => ({ kind: "daemon", id, pid }) as const),
  ...workers.map(({ sessionId, pid }) => ({ kind: "worker", id: sessionId, pid }) as const),
  ...descriptors.map(({ sessionId }) => ({ kind: "descriptor", id: sessionId, pid: null }) as const),
];

const markersOf = ({ home, workers }: HomeView): KnownMarker[] =>
  workers.map(({ sessionId, descriptor }) => ({ marker: descriptor.process.marker, sessionId, home }));

export interface DryRun extends ForceStopReport {
  /** What would be stopped, as it would stand in the report. */
  readonly plan: Entry[];
}

/** The answer of a run that touches nothing. */
export const dryRun = ({ homes, processes, kept }: ForceStopPlan): DryRun => ({
  stopped: [],
  kept: [...kept],
  failed: homes.flatMap((home) => {
    const { unwritable } = home;
    return unwritable === null ? [] : entriesOf(home).map((entry) => ({ ...entry, reason: unrecordable(unwritable) }));
  }),
  plan: [
    ...homes.flatMap((home) => (home.unwritable === null ? entriesOf(home) : [])),
    ...processes.map(({ id, identity }) => ({ kind: "process", id, pid: identity.pid }) as const),
  ],
});

/** Nothing will be signalled. */
export const isEmpty = ({ homes, processes }: ForceStopPlan): boolean =>
  processes.length === 0 &&
  homes.every((home) => home.unwritable !== null || (home.daemons.length === 0 && !hasSessions(home)));

export const hasSessions = ({ workers, descriptors, orphaned }: PlannedHome): boolean =>
  [workers, descriptors, orphaned].some(({ length }) => length > 0);
