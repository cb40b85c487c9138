import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import {
  createLifeline,
  errnoOf,
  holdLifeline,
  makeCgroup,
  ownEnvironment,
  reasonOf,
  spawnGated,
} from "@holdfast/shared-process";
import type { Cgroup, GatedProcess, LaunchFailure, Lifeline, ProcessHandle } from "@holdfast/shared-process";
import { ensurePrivateDirectory, removeFile } from "@holdfast/recovery-journal";
import { WORKER_PROTOCOL_VERSION, workerCgroupName } from "@holdfast/session-worker/transport";
import type { WorkerOrders } from "@holdfast/session-worker/transport";
import { homeHash, lifelinePath, logsFolder, placeSocket, runFolder } from "../home.ts";
import { GENERATION_NAME, HOME_NAME } from "../names.ts";
import type { WorkerProcess } from "../lifecycle/state.ts";
import type { Context } from "./context.ts";
import { freshValues } from "./context.ts";
import { noteCgroupDirectory } from "./leftovers.ts";
import type { Stores } from "./stores.ts";
import { Turns } from "./turns.ts";

/** Causes that the next try may well not meet. */
const passing = new Set<LaunchFailure["code"]>(["too_many_open_files", "spawn_failed", "identity_unreadable"]);

const noDescriptors = new Set(["EMFILE", "ENFILE", "too_many_open_files"]);

type Draft = Omit<WorkerProcess, "identity" | "cgroupPath" | "protocol">;

/** Starts workers behind their gates, and keeps hold of those that are children of this supervisor. */
export class Launcher {
  readonly #context: Context;
  readonly #stores: Stores;
  readonly #turns: Turns;
  #saidUnavailable = false;
  readonly #children = new Map<string, GatedProcess>();

  constructor(context: Context, stores: Stores) {
    this.#context = context;
    this.#stores = stores;
    this.#turns = new Turns(context.clock);
  }

  /** Of an own child that has not ended. */
  handleOf(generation: string): ProcessHandle | null {
    return this.#children.get(generation)?.handle ?? null;
  }

  async spawn(sessionId: string, generation: string): Promise<void> {
    const { registry } = this.#context;
    const fail = (terminal: boolean, reason: string, error: string | null): void => {
      if (draft?.lifelinePath) removeFile(this.#context.fs, draft.lifelinePath);
      const fresh = freshValues(this.#context, sessionId);
      const code = error !== null && noDescriptors.has(error) ? "too_many_open_files" : null;
      registry.dispatch(sessionId, { type: "spawn_failed", generation, terminal, reason, code, fresh });
    };
    let launched: Awaited<ReturnType<typeof spawnGated>>;
    let draft: Draft | null = null;
    try {
      await this.#stores.release(sessionId);
      draft = await this.#draft(generation);
      await this.#turns.next();
      launched = await this.#spawnGated(sessionId, draft);
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
    registry.dispatch(sessionId, { type: "spawned", generation, process });
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
      await createLifeline(path);
      return path;
    } catch (error) {
      this.#context.log.warn({ path, reason: reasonOf(error) }, "no lifeline");
      return null;
    }
  }

  /** Where none can be made, a sweep goes by the marker and by descent. */
  #cgroup(generation: string): Cgroup | null {
    const made = makeCgroup(workerCgroupName(homeHash(this.#context.home), generation));
    if (made.kind === "made") {
      this.#note(made.cgroup);
      return made.cgroup;
    }
    if (!this.#saidUnavailable) this.#context.log.info({ reason: made.reason }, "workers get no cgroups");
    this.#saidUnavailable = true;
    return null;
  }

  #note({ path }: Cgroup): void {
    try {
      noteCgroupDirectory(this.#context.home, dirname(path));
    } catch (error) {
      // The group is as good without it: it is missed only by whoever looks from another one.
      this.#context.log.warn({ path, reason: reasonOf(error) }, "where the cgroups are could not be noted");
    }
  }

  async #spawnGated(sessionId: string, draft: Draft): ReturnType<typeof spawnGated> {
    const { home, workerProgram } = this.#context;
    // Somebody may have removed them under the living daemon (I146).
    for (const folder of [logsFolder(home), runFolder(home)]) ensurePrivateDirectory(this.#context.fs, folder);
    const errors = openSync(`${logsFolder(home)}/worker-${sessionId}.err`, "a", 0o600);
    let lifeline: Lifeline | null = null;
    let cgroup: Cgroup | null = null;
    let isInside = false;
    try {
      lifeline = draft.lifelinePath === null ? null : holdLifeline(draft.lifelinePath);
      // Made, filled and looked at in one turn: an empty group that is found at any other time is a leftover.
      cgroup = this.#cgroup(draft.generation);
      const launched = await spawnGated({
        command: process.execPath,
        args: [workerProgram],
        env: ownEnvironment(process.env, { [HOME_NAME]: home, [GENERATION_NAME]: draft.generation }),
        cwd: "/",
        observer: this.#context.observer,
        standardError: errors,
        cgroup,
        ...(lifeline ? { lifelineFd: lifeline.fd } : {}),
      });
      isInside = launched.kind === "spawned" && launched.process.cgroup !== null;
      return launched;
    } finally {
      if (!isInside) cgroup?.remove();
      // The child holds both from its birth; this copy would keep a dead worker's lifeline alive.
      lifeline?.[Symbol.dispose]();
      closeSync(errors);
    }
  }
}
