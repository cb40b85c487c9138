import type { WorkerProcess } from "../lifecycle/state.ts";
import type { SignalOutcome } from "@holdfast/shared-process";
import { awaitsProcess } from "../lifecycle/reduce.ts";
import type { Context } from "./context.ts";
import { verdictOf } from "../verdict.ts";
import { GENERATION_NAME } from "../names.ts";

/** While something waits for a process that is not our child to end. Nothing runs while sessions are merely ready. */
const POLL_MS = 50;

type WatchContext = Pick<Context, "observer" | "counters" | "registry" | "log" | "clock">;

/** Reports the end of workers: children by their exit, adopted ones by a fresh verdict. */
export class Watcher {
  readonly #context: WatchContext;
  readonly #isChild: (generation: string) => boolean;
  readonly #polling = new Set<string>();

  constructor(context: WatchContext, isChild: (generation: string) => boolean) {
    this.#context = context;
    this.#isChild = isChild;
  }

  /** One look; true when it is over. */
  look(sessionId: string, process: WorkerProcess): boolean {
    const { generation } = process;
    if (this.#isChild(generation)) return false;
    const verdict = verdictOf(this.#context.observer, process);
    if (verdict.kind !== "gone" && verdict.kind !== "replaced") return false;
    this.#context.registry.dispatch(sessionId, { type: "process_gone", generation, how: verdict.kind });
    return true;
  }

  watch(sessionId: string, process: WorkerProcess): void {
    const { generation } = process;
    if (this.#polling.has(generation)) return;
    this.#polling.add(generation);
    const poll = (): void => {
      const awaited = awaitsProcess(this.#context.registry.newest(sessionId), generation);
      if (!awaited || this.look(sessionId, process)) {
        this.#polling.delete(generation);
        return;
      }
      this.#context.clock.setTimer(POLL_MS, poll);
    };
    poll();
  }

  signal(sessionId: string, process: WorkerProcess, order: { signal: "SIGTERM" | "SIGKILL"; stopId: string }): void {
    const { observer, counters, registry, log } = this.#context;
    const verdict = verdictOf(observer, process);
    const environment = { name: GENERATION_NAME, value: process.generation };
    // The signal re-observes in its own turn, and the generation must stand in the process's environment.
    const outcome: SignalOutcome =
      verdict.kind === "current"
        ? observer.signal(process.identity, order.signal, { environment })
        : { kind: "not-sent", verdict };
    const sent = outcome.kind === "sent";
    if (sent) counters.signalsSent += 1;
    else counters.signalsRefused += 1;
    if (sent && order.signal === "SIGKILL") counters.escalations += 1;
    log.info({ sessionId, generation: process.generation, signal: order.signal, outcome }, "signal");
    registry.dispatch(sessionId, { type: "signalled", stopId: order.stopId, signal: order.signal, sent });
  }
}
