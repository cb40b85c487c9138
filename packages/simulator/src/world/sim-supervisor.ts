import { PassThrough } from "node:stream";
import { pino } from "pino";
import { Peer, ProtocolError } from "@holdfast/client/protocol";
import type { MethodName, MethodParams, MethodResults } from "@holdfast/client/protocol";
import {
  Creations,
  HOME_NAME,
  Idle,
  asProtocolError,
  claimHome,
  composeServices,
  composeSupervisor,
  finishDeletions,
  handlers,
  highestEpoch,
  keepReserve,
  prepareHome,
  readWorkerFiles,
  withReserve,
} from "@holdfast/daemon-supervisor/testing";
import { topOwner } from "@holdfast/session-worker/transport";
import type { Services, Supervisor, World as Surroundings } from "@holdfast/daemon-supervisor/testing";
import type { Machine } from "./machine.ts";
import { ProcessFiles } from "./process-files.ts";
import { SimHost, SimTrees } from "./sim-host.ts";
import type { SimProcess } from "./sim-process.ts";
import type { World } from "./world.ts";

export const HOME = "/home";

const log = pino({ level: "silent" });
const PROGRAM_START_MS = 60;

/** The supervisor's program: claims the home, serves it, and ends when it is told to, has lost the home, or has nothing to do. */
export class SimSupervisor {
  readonly process: SimProcess;
  readonly #world: World;
  #services: Services | null = null;
  #creations: Creations | null = null;

  readonly #successorOf: number | undefined;

  constructor(world: World, machine: Machine, successorOf?: number) {
    this.#world = world;
    this.#successorOf = successorOf;
    this.process = machine.spawn({
      kind: "supervisor",
      label: world.nextLabel("d"),
      parent: null,
      environment: { [HOME_NAME]: HOME },
      detached: true,
    });
    world.scheduler.plan(PROGRAM_START_MS, `${this.process.label} starts`, () =>
      this.process.enter(() => void this.#run()),
    );
  }

  get serves(): boolean {
    return this.#services !== null && this.process.isAlive;
  }

  async call<M extends MethodName>(method: M, params: MethodParams<M>): Promise<MethodResults[M]> {
    const [services, creations] = [this.#services, this.#creations];
    if (services === null || creations === null) throw new Error("it does not serve");
    const peer = new Peer(new PassThrough());
    try {
      return await handlers[method]({ services, creations, peer }, params);
    } catch (error) {
      const told = asProtocolError(error);
      // As the product's socket answers what it has no code for.
      throw told instanceof ProtocolError ? told : new ProtocolError("internal", String(error));
    }
  }

  async #run(): Promise<void> {
    try {
      await this.#serve();
    } catch (error) {
      if (this.process.isAlive) this.#world.trace(`${this.process.label} cannot go on: ${String(error)}`);
      this.process.end();
    }
  }

  #surroundings(): Surroundings & { readonly fs: ProcessFiles } {
    const { process } = this;
    const { machine } = process;
    const world = this.#world;
    return {
      fs: new ProcessFiles(world, process),
      clock: machine.clockOf(process),
      ids: world.ids,
      observer: machine.observerOf(process),
      dial: (path) => world.network.dial(process, path),
      hostOf: (context) => new SimHost(world, process, context),
      treesOf: (context) => new SimTrees(process, context),
      watching: {
        decided: (decided) => world.decided(process, decided),
        problem: (sessionId, message) => world.checks.problem(process, world.nameOf(sessionId), message),
      },
    };
  }

  /** Whoever is to follow an owner follows that one alone. */
  #isWanted(fs: ProcessFiles): boolean {
    if (this.#successorOf === undefined) return true;
    const top = topOwner(fs, HOME);
    return top.kind === "found" && top.epoch === this.#successorOf && top.record.phase !== "stopped";
  }

  /** In the calm a person who knows that nobody owns the home on the other machine any more says so (I163). */
  #asserted(): { readonly assertedGone?: number } {
    const isLeft = this.#world.otherHost.processes().some(({ kind, isAlive }) => kind === "supervisor" && isAlive);
    const top = topOwner(this.#world.disk, HOME);
    return this.#world.isFaulty || isLeft || top.kind === "none" ? {} : { assertedGone: top.epoch };
  }

  async #serve(): Promise<void> {
    const { process } = this;
    const world = this.#surroundings();
    const { fs, observer, clock } = world;
    prepareHome(fs, HOME);
    if (!this.#isWanted(fs)) return process.end();
    const self = observer.self();
    const files = readWorkerFiles(fs, HOME);
    const claim = withReserve(fs, HOME, () =>
      claimHome({
        home: HOME,
        fs,
        observer,
        identity: self,
        lifelinePath: null,
        version: "0",
        phase: "starting",
        claimedAt: new Date(clock.now()).toISOString(),
        epochFloor: highestEpoch(files),
        ...this.#asserted(),
      }),
    );
    if (claim.kind === "refused") {
      this.#world.trace(`${process.label} is refused: ${claim.state.kind}`);
      return process.end();
    }
    const { ownership } = claim;
    this.#world.checks.owns(ownership.epoch, process);
    const ends: ((why: string) => void)[] = [];
    const ended = new Promise<string>((resolve) => ends.push(resolve));
    const finish = (why: string): void => ends.forEach((end) => end(why));
    process.onTerminate = () => finish("SIGTERM");
    const idle = new Idle(clock, () => finish("idle"));
    const supervisor: Supervisor = composeSupervisor({
      home: HOME,
      workerProgram: "worker",
      supervisorProgram: "supervisor",
      epoch: ownership.epoch,
      self,
      world,
      log,
      files: readWorkerFiles(fs, HOME),
      isOwner: () => ownership.isCurrent(),
      onOwnershipLost: (epoch) => finish(`epoch ${epoch} owns the home`),
      onChanged: () => idle.look(supervisor.context.registry),
    });
    const services = composeServices(supervisor, {
      isOwner: () => ownership.isCurrent(),
      shutdown: finish,
      socketPath: () => null,
      status: () => (ownership.isCurrent() ? "current" : "ownership-lost"),
    });
    const { requests } = services;
    supervisor.boot();
    requests.begin(finishDeletions(supervisor.context, requests));
    if (!withReserve(fs, HOME, () => ownership.enter("serving", null))) return process.end();
    // Without room for it there is none, as in the product.
    keepReserve(fs, HOME).catch(() => undefined);
    this.#creations = new Creations(services);
    this.#services = services;
    this.#world.trace(`${process.label} serves epoch ${ownership.epoch}`);
    idle.look(supervisor.context.registry);
    const why = await ended;
    this.#world.trace(`${process.label} ends: ${why}`);
    this.#services = null;
    idle[Symbol.dispose]();
    supervisor.context.registry.close();
    await supervisor.release();
    await requests.close();
    ownership.leave();
    process.end();
  }
}
