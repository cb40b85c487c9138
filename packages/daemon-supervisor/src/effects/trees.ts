import { dirname } from "node:path";
import { endTree } from "@holdfast/shared-process";
import type { TreeReport } from "@holdfast/shared-process";
import { isNested, openWorkerCgroup } from "@holdfast/session-worker/transport";
import type { WorkerProcess } from "../lifecycle/state.ts";
import { MARKER_NAME } from "../names.ts";
import { Collected } from "./collected.ts";
import type { Context } from "./context.ts";
import { removeLeftoverCgroups } from "./leftovers.ts";

/** What a worker's agents get between SIGTERM and SIGKILL once it is gone (DESIGN §3.5). */
const SWEEP_GRACE_MS = 1_000;

/** How the processes of a session are found and ended: on the machine, or on a simulated one. */
export interface Trees {
  /** To be called before each signal to a worker, in its turn. Never throws: a stop goes on with what is known. */
  collect(worker: WorkerProcess): void;
  /** Ends what a worker that is proven gone has left. */
  end(worker: WorkerProcess, force: boolean): Promise<TreeReport>;
  /** After a complete end. */
  forget(generation: string): void;
  /** What nobody is in any more; only for the owner of the home. */
  removeLeftovers(): void;
}

export class SystemTrees implements Trees {
  readonly #context: Pick<Context, "home" | "observer" | "clock" | "ports">;
  readonly #collected: Collected;

  constructor(context: Pick<Context, "home" | "observer" | "clock" | "ports" | "log">) {
    this.#context = context;
    this.#collected = new Collected(context);
  }

  collect(worker: WorkerProcess): void {
    this.#collected.collect(worker);
  }

  async end(worker: WorkerProcess, force: boolean): Promise<TreeReport> {
    const { home, observer, clock, ports } = this.#context;
    const { generation, marker, cgroupPath } = worker;
    const report = await endTree({
      marker: { name: MARKER_NAME, value: marker },
      cgroup: openWorkerCgroup(worker),
      known: this.#collected.of(generation),
      graceMs: force ? 0 : SWEEP_GRACE_MS,
      force,
      spare: isNested,
      observer,
      clock,
      ...(ports ? { ports } : {}),
    });
    // The groups of earlier workers stay for as long as kept programs do.
    if (cgroupPath !== null) removeLeftoverCgroups(home, { directory: dirname(cgroupPath) });
    return report;
  }

  forget(generation: string): void {
    this.#collected.forget(generation);
  }

  removeLeftovers(): void {
    removeLeftoverCgroups(this.#context.home);
  }
}
