import { VERSION } from "@holdfast/client/protocol";
import { removeFile } from "@holdfast/recovery-journal";
import { createLifeline, holdLifeline, leaveCgroup, reasonOf } from "@holdfast/shared-process";
import type { ProcessIdentity } from "@holdfast/shared-process";
import type { Logger } from "pino";
import { SUPERVISOR_TITLE, isWorkerCgroup, topOwner } from "@holdfast/session-worker/transport";
import { composeSupervisor, helloOf, pause } from "./compose.ts";
import { highestEpoch, readWorkerFiles } from "./descriptor-files.ts";
import { lifelinePath, placeSocket, prepareHome } from "./home.ts";
import { guardHome } from "./guard.ts";
import { Idle } from "./idle.ts";
import { createLog } from "./log.ts";
import { claimHome } from "./ownership/claim.ts";
import type { ClaimOptions, ClaimResult, Ownership } from "./ownership/claim.ts";
import { keepReserve, withReserve } from "./ownership/reserve.ts";
import { finishDeletions } from "./deleted.ts";
import { maintenanceIsOver } from "./ownership/maintenance.ts";
import { composeServices } from "./server/compose-services.ts";
import { Creations } from "./server/create.ts";
import { PublicServer } from "./server/server.ts";
import { RELEASE_MS } from "./times.ts";
import { systemWorld } from "./world.ts";
import type { World } from "./world.ts";

export interface SupervisorOptions {
  readonly home: string;
  /** Path of the program that runs one worker. */
  readonly workerProgram: string;
  /** Path of the program that runs a supervisor in the background; without it workers start no successor. */
  readonly supervisorProgram?: string | undefined;
  /** Claims the home only while the owner of this epoch, which is gone, is still its last. */
  readonly successorOf?: number | undefined;
  readonly foreground: boolean;
}

interface Claim extends Pick<ClaimOptions, "home" | "phase" | "assertedGone"> {
  readonly world: World;
  /** The highest epoch that a worker has named. */
  readonly namedEpoch?: number;
}

/** Claims the home for this process. The lifeline is held until the process ends, however it ends. */
export async function claimFor({
  home,
  phase,
  world,
  assertedGone,
  namedEpoch = 0,
}: Claim): Promise<{ readonly claim: ClaimResult; readonly self: ProcessIdentity }> {
  const { fs, clock, ids, observer } = world;
  prepareHome(fs, home);
  const self = observer.self();
  const nonce = ids.newGeneration().slice(0, 13);
  const lifeline = lifelinePath(home, `owner-${nonce}`);
  // Under another name until the claim has won: only an owner's lifeline counts where the record cannot be read.
  const candidate = lifelinePath(home, `claim-${nonce}`);
  const held = await createLifeline(candidate).then(
    () => holdLifeline(candidate),
    // Without mkfifo one proof is missing where /proc cannot be read; /proc is the first.
    () => null,
  );
  const release = (): void => {
    held?.[Symbol.dispose]();
    if (held) removeFile(fs, candidate);
  };
  const claim = claimOrRelease(release, {
    home,
    fs,
    observer,
    identity: self,
    lifelinePath: held ? lifeline : null,
    version: VERSION,
    phase,
    claimedAt: new Date(clock.now()).toISOString(),
    assertedGone,
    epochFloor: Math.max(namedEpoch, highestEpoch(readWorkerFiles(fs, home))),
  });
  if (claim.kind === "refused") release();
  else if (held) fs.rename(candidate, lifeline);
  return { claim, self };
}

/** A claim that throws, on a full disk say, leaves no lifeline behind either (I124). */
function claimOrRelease(release: () => void, options: ClaimOptions): ClaimResult {
  try {
    return withReserve(options.fs, options.home, () => claimHome(options));
  } catch (error) {
    release();
    throw error;
  }
}

/** Runs the supervisor of a home until it is asked to end. Resolves with the exit code; 0 also when another one owns the home. */
export async function runSupervisor(options: SupervisorOptions, world = systemWorld()): Promise<number> {
  // Started inside a session, it belongs to itself from here on, and its workers' groups do not lie below that session's (I153). Where
  // it may not leave, the sweeps of that session spare it.
  leaveCgroup((name) => isWorkerCgroup(name));
  for (let namedEpoch = 0; ;) {
    const ended = await runOnce(options, world, namedEpoch);
    if (ended.kind === "ended") return ended.code;
    // Its records were lost while workers remember a higher epoch: the home is claimed above that one (I165).
    namedEpoch = ended.namedEpoch;
  }
}

type Ended =
  | { readonly kind: "ended"; readonly code: number }
  | { readonly kind: "reclaim"; readonly namedEpoch: number };
const endedWith = (code: number): Ended => ({ kind: "ended", code });

async function runOnce(options: SupervisorOptions, world: World, namedEpoch: number): Promise<Ended> {
  const { home, foreground } = options;
  if (namedEpoch === 0 && !isWanted(options, world)) return endedWith(0);
  const { claim, self } = await claimFor({ home, phase: "starting", world, namedEpoch });
  if (claim.kind === "refused") {
    if (isMaintained(claim) && (await maintenanceIsOver(home))) return await runOnce(options, world, namedEpoch);
    process.stderr.write(`${home}: ${whyRefused(claim)}\n`);
    return endedWith(claim.state.kind === "alive" && !isMaintained(claim) && !foreground ? 0 : 3);
  }
  process.title = SUPERVISOR_TITLE;
  const log = createLog(home, foreground);
  try {
    return await serve(options, { ownership: claim.ownership, self, log, world });
  } catch (error) {
    log.fatal({ err: error }, "the supervisor cannot go on");
    process.stderr.write(`${reasonOf(error)}\n`);
    claim.ownership.leave();
    return endedWith(3);
  }
}

/** A successor takes the place of the owner whose end a worker saw, and of nobody who came after: a person may have stopped the home. */
function isWanted({ home, successorOf }: SupervisorOptions, { fs }: World): boolean {
  if (successorOf === undefined) return true;
  const top = topOwner(fs, home);
  return top.kind === "found" && top.epoch === successorOf && top.record.phase !== "stopped";
}

function whyRefused(claim: Extract<ClaimResult, { kind: "refused" }>): string {
  if (claim.state.kind === "unknown") return `${claim.state.why}; agent doctor tells the way out`;
  const { pid } = claim.state.record.identity;
  return isMaintained(claim) ? `process ${pid} stops it by force and does not end` : `process ${pid} owns it`;
}

const isMaintained = ({ state }: Extract<ClaimResult, { kind: "refused" }>): boolean =>
  state.kind === "alive" && state.record.phase === "maintenance";

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Why a supervisor ends: the first reason that is given or, until it is disposed, a signal. */
function whyToEnd(): Disposable & { readonly finish: (why: string) => void; readonly finished: Promise<string> } {
  let finish!: (why: string) => void;
  const finished = new Promise<string>((resolve) => (finish = resolve));
  const onSignal = (signal: NodeJS.Signals): void => finish(signal);
  for (const signal of endingSignals) process.on(signal, onSignal);
  const ignore = (): void => {
    for (const signal of endingSignals) process.off(signal, onSignal);
  };
  return { finish, finished, [Symbol.dispose]: ignore };
}

interface Held {
  readonly ownership: Ownership;
  readonly self: ProcessIdentity;
  readonly log: Logger;
  readonly world: World;
}

async function serve({ home, workerProgram, supervisorProgram }: SupervisorOptions, held: Held): Promise<Ended> {
  const { ownership, self, log, world } = held;
  const { fs, clock } = world;
  using end = whyToEnd();
  const { finish, finished } = end;
  let status: "current" | "ownership-lost" = "current";
  let named = 0;
  const idle = new Idle(clock, () => finish("idle"));
  const supervisor = composeSupervisor({
    home,
    workerProgram,
    supervisorProgram,
    epoch: ownership.epoch,
    self,
    world,
    log,
    files: readWorkerFiles(fs, home),
    isOwner: () => ownership.isCurrent(),
    onOwnershipLost: (epoch) => {
      status = "ownership-lost";
      named = epoch;
      finish(`epoch ${epoch} owns the home`);
    },
    onChanged: () => idle.look(supervisor.context.registry),
  });
  const socketPath = placeSocket(fs, home, `d${ownership.epoch}`);
  const services = composeServices(supervisor, {
    isOwner: () => ownership.isCurrent(),
    shutdown: (why) => setImmediate(() => finish(why)),
    socketPath: () => socketPath,
    status: () => (ownership.isCurrent() ? status : "ownership-lost"),
  });
  const { requests } = services;
  if (!ownership.isCurrent()) return endedWith(0);
  supervisor.boot();
  requests.begin(finishDeletions(supervisor.context, requests));
  const creations = new Creations(services);
  const server = new PublicServer(services, { creations, hello: helloOf(supervisor), path: socketPath });
  await server.listen();
  const serves = withReserve(fs, home, () => ownership.enter("serving", socketPath));
  if (!serves) finish("another epoch owns the home");
  keepReserve(fs, home).catch((error: unknown) =>
    log.warn({ reason: reasonOf(error) }, "no room to keep a reserve for a full disk"),
  );
  const { backend, reason } = supervisor.context.observer.capabilities();
  log.info({ epoch: ownership.epoch, socketPath, backend, reason }, "serving");
  idle.look(supervisor.context.registry);
  const guard = guardHome({ home, socketPath, clock }, () => {
    try {
      if (!fs.exists(home)) return finish("its home is gone");
      ownership.heal();
      for (const sessionId of supervisor.records.lost()) supervisor.context.registry.rewrite(sessionId);
      if (!ownership.isCurrent()) return finish("another epoch owns the home");
    } catch (error) {
      // A full disk, or a home that is being removed: the next change is looked at anew.
      log.warn({ reason: reasonOf(error) }, "the home cannot be mended now");
    }
    server.heal().catch((error: unknown) => log.error({ reason: reasonOf(error) }, "the socket cannot be bound again"));
  });
  const why = await finished;
  guard[Symbol.dispose]();
  idle[Symbol.dispose]();
  log.info({ why }, "ending; workers stay");
  // From here on nothing is decided: whoever owns the home now must not be met by old effects.
  supervisor.context.registry.close();
  await server.close();
  await supervisor.release();
  await Promise.race([requests.close(), pause(clock, RELEASE_MS)]);
  const reclaims = named > 0 && ownership.isCurrent();
  ownership.leave();
  return reclaims ? { kind: "reclaim", namedEpoch: named } : endedWith(0);
}
