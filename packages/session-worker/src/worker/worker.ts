import { reasonOf } from "@holdfast/shared-process";
import { ProtocolError } from "@holdfast/client/protocol";
import type { CancelParams } from "../transport/messages.ts";
import type { Peer } from "@holdfast/client/protocol";
import type {
  Authenticate,
  StartParams,
  StartResult,
  SubmitAnswer,
  SubmitParams,
  WorkerHello,
  WorkerOrders,
  WorkerReport,
  WorkerStopAnswer,
  WorkerStopParams,
} from "../transport/messages.ts";
import { Alone, isMissing } from "./alone.ts";
import { Connection } from "./connection.ts";
import type { WorkerService } from "./connection.ts";
import { EpochFence } from "./epoch-fence.ts";
import { launchSession } from "./launch.ts";
import { FORCED_GRACE_MS, STOP_GRACE_MS, dropCgroup, endSession, whyBusy } from "./stop.ts";
import type { Running, StopGoal } from "./stop.ts";
import { Successor } from "./successor.ts";
import { Viewer } from "./viewer.ts";
import type { WorkerWorld } from "./world.ts";

const PROGRESS_MS = 1_000;
/** Above everything that a stop waits for in order. */
const STOP_DEADLINE_MS = 6_000;
/** For viewers to get the last events; one that does not read attaches again and loses nothing. */
const VIEWERS_WAIT_MS = 200;

type Phase =
  | { readonly name: "blank" }
  | { readonly name: "starting"; readonly result: Promise<StartResult> }
  | ({ readonly name: "serving" } & Running);

interface Stop {
  stopId: string;
  goal: StopGoal;
}

export interface WorkerOptions {
  readonly world: WorkerWorld;
  readonly orders: WorkerOrders;
}

/** One session's process: connections on one side, the session on the other. `ended` resolves when the program may exit. */
export class Worker implements WorkerService {
  readonly ended: Promise<void>;
  readonly #options: WorkerOptions;
  readonly #fence: EpochFence;
  readonly #listener: ReturnType<WorkerWorld["listenerOf"]>;
  readonly #connections = new Set<Connection>();
  readonly #startedAt: number;
  #resolveEnded: () => void = () => undefined;
  #control: Connection | null = null;
  #phase: Phase = { name: "blank" };
  #stop: Stop | null = null;
  #alone: Alone | null = null;
  readonly #successor: Successor;
  #reported = "";
  #reporting = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { clock, ids, listenerOf } = options.world;
    this.#fence = new EpochFence(options.orders);
    this.#startedAt = clock.now();
    this.#successor = new Successor({ ...options.world, home: options.orders.home });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#listener = listenerOf({
      path: options.orders.socketPath,
      ids,
      onConnection: (socket) => void this.#connections.add(new Connection(socket, this)),
    });
  }

  async listen(): Promise<void> {
    await this.#listener.bind();
    this.#beAlone();
  }

  authenticate(connection: Connection, params: Authenticate): WorkerHello {
    const admittance = this.#fence.admit(params);
    if (admittance.kind === "refused") return admittance;
    if (params.purpose === "control") {
      this.#control?.peer.end();
      this.#control = connection;
      this.#successor.met(params.programs);
      this.#alone?.[Symbol.dispose]();
      this.#alone = null;
    }
    const { sessionId, generation } = this.#options.orders;
    const phase = this.#phase.name === "serving" ? "serving" : "blank";
    return { kind: "hello", phase, sessionId, generation, pid: this.#options.world.ports.pid, report: this.report() };
  }

  isCurrent(epoch: number): boolean {
    return this.#fence.isCurrent(epoch);
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection);
    if (this.#control !== connection) return;
    this.#control = null;
    this.#beAlone();
  }

  report(): WorkerReport {
    const blank = { activity: "idle", openOperations: 0, waitingFor: null, degraded: null } as const;
    return this.#phase.name === "serving" ? this.#phase.session.report : { ...blank, lastActivityAt: this.#startedAt };
  }

  start(params: StartParams): Promise<StartResult> {
    if (this.#stop) throw new ProtocolError("session_stopping", "the worker is stopping");
    if (this.#phase.name === "serving") return Promise.resolve({ kind: "serving", report: this.report() });
    if (this.#phase.name === "starting") return this.#phase.result;
    const result = this.#launch(params);
    this.#phase = { name: "starting", result };
    return result;
  }

  async #launch(params: StartParams): Promise<StartResult> {
    const launched = await launchSession({ ...this.#options, params, onChange: () => this.#reportSoon() });
    if (launched.kind === "failed") {
      this.#phase = { name: "blank" };
      return launched;
    }
    const { session, store } = launched;
    this.#phase = { name: "serving", session, store };
    store.onEvent(() => {
      for (const { viewer } of this.#connections) viewer?.wake();
    });
    return { kind: "serving", report: this.report() };
  }

  #serving(): Running {
    if (this.#phase.name !== "serving")
      throw new ProtocolError("worker_not_responding", "the session is still starting");
    return this.#phase;
  }

  submit(params: SubmitParams): Promise<SubmitAnswer> {
    return this.#serving().session.submit(params);
  }

  cancel(params: CancelParams): Promise<void> {
    return this.#serving().session.cancel(params);
  }

  createViewer(peer: Peer, { from, follow }: { from?: string | undefined; follow: boolean }): Viewer {
    const { store } = this.#serving();
    store.keepName();
    return new Viewer({ peer, store, from, follow });
  }

  stop({ stopId, goal, force }: WorkerStopParams): WorkerStopAnswer {
    const phase = this.#phase;
    if (goal === "passivate" && !force && !this.#stop) {
      const why = this.#whyBusy();
      if (why !== null) return { kind: "busy", why };
    }
    if (this.#stop) {
      this.#stop.goal = goal;
      this.#stop.stopId = stopId;
      // A stronger stop escalates the one that runs.
      if (force && phase.name === "serving") void phase.session.agent.end(FORCED_GRACE_MS);
    } else void this.#end({ stopId, goal }, force);
    return { kind: "acknowledged", graceMs: STOP_GRACE_MS };
  }

  /** A supervisor that is connected found the socket gone; without one, the worker looks by itself. */
  async rebind(): Promise<object> {
    if (!this.#stop && !this.#listener.isReachable) await this.#listener.bind();
    return {};
  }

  /** The worker ends for a reason of its own; accepted actions stay queued. */
  close(reason: string): void {
    this.#control?.peer.notify("worker/closing", { reason });
    if (!this.#stop) void this.#end({ stopId: reason, goal: "replace" }, false);
  }

  async #end(stop: Stop, force: boolean): Promise<void> {
    this.#stop = stop;
    const { world, orders } = this.#options;
    world.clock.setTimer(STOP_DEADLINE_MS, () => void this.#finish());
    this.#progress(stop);
    // A start that is under way is waited for, so that its agent is known; the deadline holds for it too.
    try {
      if (this.#phase.name === "starting") await this.#phase.result;
      if (this.#phase.name === "serving")
        await endSession({
          running: this.#phase,
          orders,
          force,
          world,
          goal: () => stop.goal,
        });
    } catch (error) {
      // Files that take nothing more, or are gone: the next writer settles what is open. It must not hold the end.
      this.#control?.peer.notify("worker/closing", { reason: reasonOf(error) });
    }
    await this.#finish();
  }

  #progress(stop: Stop): void {
    this.#options.world.clock.setTimer(PROGRESS_MS, () => {
      this.#control?.peer.notify("worker/progress", { stopId: stop.stopId });
      this.#progress(stop);
    });
  }

  async #finish(): Promise<void> {
    this.#listener.close();
    const viewers = [...this.#connections].flatMap(({ viewer }) => viewer ?? []);
    for (const viewer of viewers) viewer.end("reattach");
    const wait = new Promise<void>((resolve) => void this.#options.world.clock.setTimer(VIEWERS_WAIT_MS, resolve));
    await Promise.race([Promise.allSettled(viewers.map((viewer) => viewer.run())), wait]);
    if (isMissing(this.#options.world.fs, this.#options.orders.home)) dropCgroup(this.#options.orders);
    // One turn of the loop for what was just written.
    setImmediate(() => setImmediate(() => this.#resolveEnded()));
  }

  /** At most one notification per turn of the loop, and none without news. */
  #reportSoon(): void {
    if (this.#reporting || !this.#control) return;
    this.#reporting = true;
    setImmediate(() => {
      this.#reporting = false;
      const report = this.report();
      const text = JSON.stringify(report);
      if (text === this.#reported) return;
      this.#reported = text;
      this.#control?.peer.notify("worker/activity", report);
    });
  }

  #whyBusy(): string | null {
    const { orders, world } = this.#options;
    if (this.#phase.name === "starting") return "the session is starting";
    return this.#phase.name === "serving" ? whyBusy(this.#phase, orders, world) : null;
  }

  #beAlone(): void {
    if (this.#stop) return;
    const { world, orders } = this.#options;
    const { clock, fs } = world;
    this.#alone = new Alone({
      home: orders.home,
      clock,
      fs,
      isWorking: () => this.#phase.name === "serving" && !this.#phase.session.isIdle,
      whyBusy: () => this.#whyBusy(),
      seeToSuccessor: () => this.#successor.look(),
      rebind: async () => {
        // Its directory may be gone or full for now: the next look tries again.
        await this.rebind().catch(() => undefined);
      },
      leave: (reason) => this.#leave(reason),
    });
  }

  /** Nobody hears it. A supervisor that comes now must find nobody, and not one that is on its way out: what is on disk tells it the rest. */
  #leave(reason: string): void {
    this.#options.world.say(`ending: ${reason}`);
    this.#listener.close();
    for (const { peer } of this.#connections) peer.destroy();
    this.close(reason);
  }
}
