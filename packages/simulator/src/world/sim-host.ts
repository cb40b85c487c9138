import { endTree } from "@holdfast/shared-process";
import type { TreeReport } from "@holdfast/shared-process";
import { GENERATION_NAME, HOME_NAME, MARKER_NAME } from "@holdfast/daemon-supervisor/testing";
import type {
  Context,
  GatedWorker,
  Trees,
  WorkerHost,
  WorkerOrder,
  WorkerProcess,
} from "@holdfast/daemon-supervisor/testing";
import type { SimProcess } from "./sim-process.ts";
import { runWorker } from "./sim-worker.ts";
import type { World } from "./world.ts";

/** How long a worker's program takes from its gate to its first line of ours. */
const PROGRAM_START_MS = 40;
const SPAWN_MS = 3;

/** Starts workers on the supervisor's machine. */
export class SimHost implements WorkerHost {
  readonly #world: World;
  readonly #supervisor: SimProcess;
  readonly #context: Pick<Context, "observer" | "home">;

  constructor(world: World, supervisor: SimProcess, context: Pick<Context, "observer" | "home">) {
    this.#world = world;
    this.#supervisor = supervisor;
    this.#context = context;
  }

  createLifeline(): Promise<void> {
    return Promise.reject(new Error("a simulated machine has no FIFOs"));
  }

  async spawn(order: WorkerOrder): ReturnType<WorkerHost["spawn"]> {
    const { scheduler } = this.#world;
    this.#supervisor.touch("spawn");
    await new Promise<void>((resolve) => {
      const delay = this.#world.startDelay(SPAWN_MS);
      scheduler.plan(delay, `${this.#supervisor.label} spawns`, () => this.#supervisor.enter(resolve));
    });
    return this.#spawn(order);
  }

  #spawn({ sessionId, generation }: WorkerOrder): ReturnType<WorkerHost["spawn"]> {
    this.#supervisor.touch("spawn");
    const failure = this.#world.spawnFailure();
    if (failure !== null) return Promise.resolve({ kind: "failed", ...failure });
    this.#world.checks.spawning(sessionId);
    let worker: SimProcess;
    try {
      worker = this.#supervisor.machine.spawn({
        kind: "worker",
        label: this.#world.nextLabel("w"),
        parent: this.#supervisor,
        environment: { [HOME_NAME]: this.#context.home, [GENERATION_NAME]: generation },
        detached: true,
      });
    } catch {
      return Promise.resolve({ kind: "failed", code: "spawn_failed", message: "no process number is free" });
    }
    this.#world.checks.spawned(sessionId, generation, worker);
    return Promise.resolve(this.#gated(worker, sessionId));
  }

  #gated(worker: SimProcess, sessionId: string): Awaited<ReturnType<WorkerHost["spawn"]>> {
    const { observer } = this.#context;
    const { scheduler } = this.#world;
    const supervisor = this.#supervisor;
    let gate: "shut" | "opened" | "closed" = "shut";
    // Its end of the gate closes with the supervisor: a worker that was not let through ends.
    const close = (): void => {
      if (gate !== "shut") return;
      gate = "closed";
      scheduler.plan(5, `${worker.label} finds its gate closed`, () => worker.enter(() => worker.end()));
    };
    supervisor.onEnd(close);
    const identified = observer.identify(worker.pid);
    const opened = identified.kind === "identified" ? observer.open(identified.identity) : identified;
    if (identified.kind !== "identified" || opened.kind !== "opened") {
      close();
      return { kind: "failed", code: "identity_unreadable", message: "its identity cannot be read" };
    }
    const { handle } = opened;
    const process: GatedWorker = {
      identity: identified.identity,
      handle,
      cgroup: null,
      onExit: (callback) => handle.onExit((exit) => supervisor.isAlive && callback(exit)),
      openGate: (word) => {
        supervisor.touch("open gate");
        if (gate !== "shut") return;
        gate = "opened";
        scheduler.plan(this.#world.startDelay(PROGRAM_START_MS), `${worker.label} starts`, () =>
          worker.enter(() => {
            this.#world.checks.letThrough(sessionId, worker);
            runWorker(this.#world, worker, word);
          }),
        );
      },
      discard: () => {
        close();
        return Promise.resolve();
      },
      unref: () => undefined,
    };
    return { kind: "spawned", process };
  }
}

/** Ends what a worker left, by the marker. */
export class SimTrees implements Trees {
  readonly #supervisor: SimProcess;
  readonly #context: Pick<Context, "observer" | "clock">;

  constructor(supervisor: SimProcess, context: Pick<Context, "observer" | "clock">) {
    this.#supervisor = supervisor;
    this.#context = context;
  }

  collect(): void {
    // Everything that an agent of the simulation starts keeps its environment.
  }

  end({ marker }: WorkerProcess, force: boolean): Promise<TreeReport> {
    const { observer, clock } = this.#context;
    const ports = this.#supervisor.machine.portsOf(this.#supervisor);
    return endTree({
      marker: { name: MARKER_NAME, value: marker },
      graceMs: force ? 0 : 1_000,
      force,
      observer,
      clock,
      ports,
    });
  }

  forget(): void {
    // Nothing was collected.
  }

  removeLeftovers(): void {
    // A simulated machine has no cgroups.
  }
}
