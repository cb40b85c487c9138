import { startIdOf } from "@holdfast/shared-process";
import type { EnvironmentScan, FoundProcess, Marker, ProcessIdentity } from "@holdfast/shared-process";
import { GENERATION_NAME, HOME_NAME, MARKER_NAME } from "../names.ts";
import { isWorker } from "../worker-process.ts";
import { mayLive } from "./home-view.ts";
import type { HomeView } from "./home-view.ts";

/** A worker that no descriptor names, or a process of an agent whose worker is gone. */
export interface Orphan {
  /** Of its process, in the form of people and logs. */
  readonly id: string;
  readonly identity: ProcessIdentity;
  readonly command: string;
  /** The session, or else the generation, if known. */
  readonly workerId: string | null;
  /** The home that it belongs to, if known. */
  readonly home: string | null;
  /** Must stand in its environment directly before each signal, unless its identity is proof enough. */
  readonly proof: Marker;
  /** A record names it by its identity, because nothing in its environment tells whose it is. */
  readonly byIdentity: boolean;
  /** Why nobody may end it; `null` when it is certain that it is nobody's any more. */
  readonly doubt: string | null;
}

/** Whose a marker is. */
export interface KnownMarker {
  readonly marker: string;
  readonly sessionId: string;
  readonly home: string;
}

export interface OrphanParts {
  readonly scan: EnvironmentScan;
  readonly homes: readonly HomeView[];
  /** The same home whatever the spelling. */
  readonly homeOf: (path: string) => HomeView | undefined;
  /** The session that a process holds the files of as its worker does; `null` if it holds none; `undefined`: no worker. */
  readonly heldSession: (found: FoundProcess) => string | null | undefined;
  /** Of sessions whose records are gone since. */
  readonly remembered: readonly KnownMarker[];
}

/** 18 random bytes as base64url: what else stands under this name is none of ours. */
const MARKER = /^[A-Za-z0-9_-]{24}$/;

const UNREAD = "a record that cannot be read may name it";

/** Pure: by the scan and the records that were read after it. Workers first, then what agents left. */
export function findOrphans(parts: OrphanParts): Orphan[] {
  const { scan, homes } = parts;
  const supervisors = new Set(homes.flatMap((view) => [...view.lost.map(pidOf), ...ownerPid(view)]));
  const others = scan.processes.filter((found) => !supervisors.has(pidOf(found)));
  const workers = others.filter(isWorker);
  const named = new Set(homes.flatMap((view) => view.workers.filter(mayLive).map(keyOfWorker)));
  const living = new Set(workers.filter((found) => named.has(keyOf(found.identity))).map(pidOf));
  const lost = workers
    // What a worker has just forked is its image until it runs the program that it is for.
    .filter((found) => ![pidOf(found), ...scan.ancestorsOf(pidOf(found))].some((pid) => living.has(pid)))
    .map((found) => workerOrphan(found, parts));
  const kin = {
    markers: knownMarkers(parts),
    isKnown: isAllKnown(parts),
    // What runs below a supervisor or a worker that a record names lives with it, whatever it carries.
    isOwned: (pid: number) => supervisors.has(pid) || living.has(pid),
    lostAt: (pid: number) => lost.find(({ identity }) => identity.pid === pid),
  };
  const left = others
    .filter((found) => !isWorker(found) && found.values[MARKER_NAME] !== undefined)
    .flatMap((found) => agentOrphan(found, scan.ancestorsOf(pidOf(found)), kin));
  return [...lost, ...left];
}

const pidOf = ({ identity }: FoundProcess): number => identity.pid;
const keyOf = ({ pid, startTicks }: ProcessIdentity): string => `${pid}:${startTicks ?? "-"}`;
const keyOfWorker = ({ descriptor }: HomeView["workers"][number]): string => keyOf(descriptor.process.identity);
const ownerPid = ({ owner }: HomeView): number[] => (owner.kind === "alive" ? [owner.record.identity.pid] : []);
const isAllKnown = ({ scan, homes }: OrphanParts): boolean =>
  scan.kind === "complete" && homes.every(({ problems }) => problems.length === 0);

function workerOrphan(found: FoundProcess, parts: OrphanParts): Orphan {
  const generation = found.values[GENERATION_NAME] ?? "";
  const view = parts.homeOf(found.values[HOME_NAME] ?? "");
  const recorded = view?.workers.find(({ descriptor }) => descriptor.process.generation === generation)?.sessionId;
  const held = parts.heldSession(found);
  return {
    id: startIdOf(found.identity),
    identity: found.identity,
    command: found.command,
    workerId: recorded ?? held ?? generation,
    home: view?.home ?? null,
    proof: { name: GENERATION_NAME, value: generation },
    byIdentity: false,
    doubt:
      held === undefined
        ? "only its environment says that it is a worker"
        : view === undefined || view.problems.length > 0
          ? UNREAD
          : null,
  };
}

interface Known {
  readonly sessionId: string;
  readonly home: string;
  readonly isLiving: boolean;
}

function knownMarkers({ homes, remembered }: OrphanParts): Map<string, Known> {
  const markers = new Map<string, Known>();
  for (const { marker, sessionId, home } of remembered) markers.set(marker, { sessionId, home, isLiving: false });
  for (const { home, retained, workers } of homes) {
    for (const { marker, sessionId } of retained) markers.set(marker, { sessionId, home, isLiving: false });
    for (const worker of workers) {
      const { sessionId, descriptor } = worker;
      markers.set(descriptor.process.marker, { sessionId, home, isLiving: mayLive(worker) });
    }
  }
  return markers;
}

interface Kin {
  readonly markers: ReadonlyMap<string, Known>;
  readonly isKnown: boolean;
  readonly isOwned: (pid: number) => boolean;
  readonly lostAt: (pid: number) => Orphan | undefined;
}

function agentOrphan({ identity, command, values }: FoundProcess, above: readonly number[], kin: Kin): Orphan[] {
  const id = startIdOf(identity);
  const marker = values[MARKER_NAME] ?? "";
  const known = kin.markers.get(marker);
  if (known?.isLiving || !MARKER.test(marker)) return [];
  const nearest = above.find((pid) => kin.isOwned(pid) || kin.lostAt(pid) !== undefined);
  if (nearest !== undefined && kin.isOwned(nearest)) return [];
  const parent = nearest === undefined ? undefined : kin.lostAt(nearest);
  const proof = { name: MARKER_NAME, value: marker };
  const found = { id, identity, command, proof, byIdentity: false };
  if (known) return [{ ...found, workerId: known.sessionId, home: known.home, doubt: null }];
  const { workerId, home, doubt } = parent ?? { workerId: null, home: null, doubt: kin.isKnown ? null : UNREAD };
  return [{ ...found, workerId, home, doubt }];
}
