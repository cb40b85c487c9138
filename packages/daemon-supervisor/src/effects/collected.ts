import { findTree, reasonOf, startIdOf } from "@holdfast/shared-process";
import type { Spare, TreeProcess } from "@holdfast/shared-process";
import { isNested, openWorkerCgroup } from "@holdfast/session-worker/transport";
import type { WorkerProcess } from "../lifecycle/state.ts";
import { MARKER_NAME } from "../names.ts";
import type { Context } from "./context.ts";

/**
 * Whoever descended from a worker when it was about to be signalled. Its end tears them off, and what has dropped its environment could
 * not be told for the session's any more (DESIGN §3.3).
 */
export class Collected {
  readonly #context: Pick<Context, "observer" | "log" | "ports">;
  readonly #byGeneration = new Map<string, ReadonlyMap<string, TreeProcess>>();

  constructor(context: Pick<Context, "observer" | "log" | "ports">) {
    this.#context = context;
  }

  /** To be called before each signal, in its turn. Never throws: a stop goes on with what is known. */
  collect(worker: WorkerProcess): void {
    const { observer, log, ports } = this.#context;
    const { generation, identity, marker } = worker;
    const cgroup = openWorkerCgroup(worker);
    // Whoever is in the group stays in it, so that the sweep finds it there.
    if (cgroup !== null) return;
    try {
      const isWorker = (one: Parameters<Spare>[0]): boolean => one.identity.pid === identity.pid;
      const found = findTree({
        root: identity,
        marker: { name: MARKER_NAME, value: marker },
        // The worker itself is a program of Holdfast's as well, and the root of all the others.
        spare: (one) => !isWorker(one) && isNested(one),
        observer,
        ...(ports ? { ports } : {}),
      });
      const others = found.processes.filter((one) => !isWorker(one));
      const before = this.#byGeneration.get(generation) ?? new Map<string, TreeProcess>();
      this.#byGeneration.set(
        generation,
        new Map([...before, ...others.map((one) => [startIdOf(one.identity), one] as const)]),
      );
    } catch (error) {
      log.warn({ generation, reason: reasonOf(error) }, "the worker's processes could not be listed before its signal");
    }
  }

  of(generation: string): readonly TreeProcess[] {
    return [...(this.#byGeneration.get(generation)?.values() ?? [])];
  }

  forget(generation: string): void {
    this.#byGeneration.delete(generation);
  }
}
