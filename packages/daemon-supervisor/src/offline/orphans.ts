import { startIdOf } from "@holdfast/shared-process";
import type { EnvironmentScan, FoundProcess, Marker, ProcessIdentity } from "@holdfast/shared-process";
import { SUPERVISOR_TITLE } from "@holdfast/session-worker/transport";
import type { HeldHomes } from "@holdfast/session-worker/transport";
import { GENERATION_NAME, HOME_NAME, MARKER_NAME } from "../names.ts";
import { isWorker } from "../worker-process.ts";
import type { Held } from "../worker-process.ts";
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
  readonly heldByWorker: (found: FoundProcess) => Held;
  readonly homesHeldBy: (pid: number) => Pick<HeldHomes, "places">;
  readonly sharesMounts: (pid: number) => boolean;
  /** Of sessions whose records are gone since. */
  readonly remembered: readonly KnownMarker[];
}

/** 18 random bytes as base64url: what else stands under this name is none of ours. */
const MARKER = /^[A-Za-z0-9_-]{24}$/;

const UNREAD = "a record that cannot be read may name it";
/** That may have the path of one here. */
const ELSEWHERE = "its home cannot be seen from here: another mount namespace has it, or something is mounted over it";

/** Pure: by the scan and the records that were read after it. Workers first, then what agents left. */
export function findOrphans(parts: OrphanParts): Orphan[] {
  const { scan, homes } = parts;
  const supervisors = new Set(homes.flatMap((view) => [...view.lost.map(pidOf), ...ownerPid(view)]));
  const others = scan.processes.filter((found) => !supervisors.has(pidOf(found)));
  const strangers = others.filter((found) => isOfUnseenHome(found, parts));
  const workers = others.filter((found) => isWorker(found) && !strangers.includes(found));
  const named = new Set(homes.flatMap((view) => view.workers.filter(mayLive).map(keyOfWorker)));
  const living = new Set(workers.filter((found) => named.has(keyOf(found.identity))).map(pidOf));
  const lost = workers
    // What a worker has just forked is its image until it runs the program that it is for.
    .filter((found) => ![pidOf(found), ...scan.ancestorsOf(pidOf(found))].some((pid) => living.has(pid)))
    .map((found) => workerOrphan(found, parts));
  const outside = [...strangers.map(supervisorElsewhere), ...lost];
  const isAllRead = isAllKnown(parts);
  const kin = {
    markers: knownMarkers(parts),
    // The records of another mount namespace's homes have not been read.
    isKnown: (pid: number) => isAllRead && parts.sharesMounts(pid),
    // What runs below a supervisor or a worker that a record names lives with it, whatever it carries.
    isOwned: (pid: number) => supervisors.has(pid) || living.has(pid),
    lostAt: (pid: number) => outside.find(({ identity }) => identity.pid === pid),
  };
  const left = others
    .filter((found) => !isWorker(found) && found.values[MARKER_NAME] !== undefined)
    .flatMap((found) => agentOrphan(found, scan.ancestorsOf(pidOf(found)), kin));
  return [...outside, ...left];
}

const pidOf = ({ identity }: FoundProcess): number => identity.pid;
const keyOf = ({ pid, startTicks }: ProcessIdentity): string => `${pid}:${startTicks ?? "-"}`;
const keyOfWorker = ({ descriptor }: HomeView["workers"][number]): string => keyOf(descriptor.process.identity);
const ownerPid = ({ owner }: HomeView): number[] => (owner.kind === "alive" ? [owner.record.identity.pid] : []);
const isAllKnown = ({ scan, homes }: OrphanParts): boolean =>
  scan.kind === "complete" && homes.every(({ problems }) => problems.length === 0);

/** A supervisor of a home that has its path in another mount namespace, or that may have. */
function isOfUnseenHome({ identity, command }: FoundProcess, { homesHeldBy }: OrphanParts): boolean {
  if (command !== SUPERVISOR_TITLE) return false;
  const { places } = homesHeldBy(identity.pid);
  return places.size > 0 && !places.has("here");
}

const supervisorElsewhere = ({ identity, command, values }: FoundProcess): Orphan => ({
  id: startIdOf(identity),
  identity,
  command,
  workerId: null,
  home: null,
  proof: { name: HOME_NAME, value: values[HOME_NAME] ?? "" },
  byIdentity: false,
  doubt: ELSEWHERE,
});

function workerOrphan(found: FoundProcess, parts: OrphanParts): Orphan {
  const generation = found.values[GENERATION_NAME] ?? "";
  const { place, sessionId } = parts.heldByWorker(found);
  // One of that name here is another one, or may be.
  const view = place === "elsewhere" || place === "unknown" ? undefined : parts.homeOf(found.values[HOME_NAME] ?? "");
  const recorded = view?.workers.find(({ descriptor }) => descriptor.process.generation === generation)?.sessionId;
  return {
    id: startIdOf(found.identity),
    identity: found.identity,
    command: found.command,
    workerId: recorded ?? sessionId ?? generation,
    home: view?.home ?? null,
    proof: { name: GENERATION_NAME, value: generation },
    byIdentity: false,
    doubt: doubtOf(place, view),
  };
}

function doubtOf(place: Held["place"], view: HomeView | undefined): string | null {
  if (place === null) return "only its environment says that it is a worker";
  if (place !== "here") return ELSEWHERE;
  return view === undefined || view.problems.length > 0 ? UNREAD : null;
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
  readonly isKnown: (pid: number) => boolean;
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
  const { workerId, home, doubt } = parent ?? {
    workerId: null,
    home: null,
    doubt: kin.isKnown(identity.pid) ? null : UNREAD,
  };
  return [{ ...found, workerId, home, doubt }];
}
