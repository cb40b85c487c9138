import { errnoOf, reasonOf } from "@holdfast/shared-process";
import type { LaunchFailure, ProcessHandle } from "@holdfast/shared-process";
import { removeFile } from "@holdfast/recovery-journal";
import { WORKER_PROTOCOL_VERSION } from "@holdfast/session-worker/transport";
import type { WorkerOrders } from "@holdfast/session-worker/transport";
import { lifelinePath, placeSocket } from "../home.ts";
import type { Stamp } from "../lifecycle/answers.ts";
import type { WorkerProcess } from "../lifecycle/state.ts";
import type { Context } from "./context.ts";
import { freshValues } from "./context.ts";
import type { Stores } from "./stores.ts";
import { Turns } from "./turns.ts";
import type { GatedWorker, WorkerHost } from "./worker-host.ts";

/** Causes that the next try may well not meet. */
const passing = new Set<LaunchFailure["code"]>(["too_many_open_files", "spawn_failed", "identity_unreadable"]);

const noDescriptors = new Set(["EMFILE", "ENFILE", "too_many_open_files"]);

type Draft = Omit<WorkerProcess, "identity" | "cgroupPath" | "protocol">;

/** Starts workers behind their gates, and keeps hold of those that are children of this supervisor. */
export class Launcher {
  readonly #context: Context;
  readonly #stores: Stores;
  readonly #host: WorkerHost;
  readonly #turns: Turns;
  readonly #children = new Map<string, GatedWorker>();

  constructor(context: Context, stores: Stores, host: WorkerHost) {
    this.#context = context;
    this.#stores = stores;
    this.#host = host;
    this.#turns = new Turns(context.clock);
  }

  /** Of an own child that has not ended. */
  handleOf(generation: string): ProcessHandle | null {
    return this.#children.get(generation)?.handle ?? null;
  }

  async spawn(stamp: Stamp, generation: string): Promise<void> {
    const { registry } = this.#context;
    const { sessionId } = stamp;
    const fail = (terminal: boolean, reason: string, error: string | null): void => {
      if (draft?.lifelinePath) removeFile(this.#context.fs, draft.lifelinePath);
      const fresh = freshValues(this.#context, sessionId);
      const code = error !== null && noDescriptors.has(error) ? "too_many_open_files" : null;
      registry.answer(stamp, { type: "spawn_failed", generation, terminal, reason, code, fresh });
    };
    let launched: Awaited<ReturnType<WorkerHost["spawn"]>>;
    let draft: Draft | null = null;
    try {
      await this.#stores.release(sessionId);
      draft = await this.#draft(generation);
      await this.#turns.next();
      launched = await this.#host.spawn({ sessionId, generation, lifelinePath: draft.lifelinePath });
    } catch (error) {
      fail(false, reasonOf(error), errnoOf(error));
      return;
    }
    if (launched.kind === "failed") {
      fail(!passing.has(launched.code), launched.message, launched.code);
      return;
    }
    const child = launched.process;
    this.#context.counters.launches += 1;
    this.#children.set(generation, child);
    const cgroupPath = child.cgroup?.path ?? null;
    const process = { ...draft, cgroupPath, identity: child.identity, protocol: WORKER_PROTOCOL_VERSION };
    const { kind } = registry.answer(stamp, { type: "spawned", generation, process });
    // Nobody waits for it: with its gate shut it ends by itself.
    if (kind !== "move") void child.discard();
    child.onExit((exit) => {
      this.#children.delete(generation);
      this.#context.log.info({ sessionId, generation, exit }, "the worker ended");
      registry.dispatch(sessionId, { type: "process_gone", generation, how: "gone" });
    });
    child.unref();
  }

  openGate(sessionId: string, process: WorkerProcess): void {
    const orders: WorkerOrders = {
      protocol: WORKER_PROTOCOL_VERSION,
      home: this.#context.home,
      sessionId,
      generation: process.generation,
      token: process.token,
      marker: process.marker,
      socketPath: process.socketPath,
      cgroupPath: process.cgroupPath,
      epoch: this.#context.epoch,
      supervisor: this.#context.self,
    };
    this.#children.get(process.generation)?.openGate(JSON.stringify(orders));
  }

  discard(process: WorkerProcess): void {
    void this.#children.get(process.generation)?.discard();
  }

  async #draft(generation: string): Promise<Draft> {
    const { home, fs, ids } = this.#context;
    const name = generation.slice(0, 13);
    return {
      generation,
      socketPath: placeSocket(fs, home, name),
      token: ids.newToken(32),
      marker: ids.newToken(18),
      lifelinePath: await this.#lifeline(name),
    };
  }

  /** A machine without mkfifo only loses a proof that is needed where /proc cannot be read. */
  async #lifeline(name: string): Promise<string | null> {
    const path = lifelinePath(this.#context.home, name);
    await this.#turns.next();
    try {
      await this.#host.createLifeline(path);
      return path;
    } catch (error) {
      this.#context.log.warn({ path, reason: reasonOf(error) }, "no lifeline");
      return null;
    }
  }
}
