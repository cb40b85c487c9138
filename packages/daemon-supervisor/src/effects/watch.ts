import type { ExitInfo, ProcessHandle, SignalOutcome } from "@holdfast/shared-process";
import { verdictOf } from "@holdfast/session-worker/transport";
import { awaitsProcess } from "../lifecycle/reduce.ts";
import type { Stamp } from "../lifecycle/answers.ts";
import type { WorkerProcess } from "../lifecycle/state.ts";
import { GENERATION_NAME } from "../names.ts";
import type { Context } from "./context.ts";
import type { Trees } from "./trees.ts";

/** While something waits for the end of a process that can neither be held nor proven gone. */
const POLL_MS = 50;

type WatchContext = Pick<Context, "observer" | "counters" | "registry" | "log" | "clock">;

/** Workers that are children of this supervisor: the launcher has them, and tells their end. */
export interface Children {
  /** `null` when it is not a child, or has ended. */
  handleOf(generation: string): ProcessHandle | null;
}

/** Holds adopted workers for life, so that their end is an event, and signals workers. */
export class Watcher {
  readonly #context: WatchContext;
  readonly #children: Children;
  readonly #trees: Pick<Trees, "collect">;
  /** Adopted workers by generation. */
  readonly #held = new Map<string, ProcessHandle>();
  readonly #polling = new Set<string>();

  constructor(context: WatchContext, children: Children, trees: Pick<Trees, "collect">) {
    this.#context = context;
    this.#children = children;
    this.#trees = trees;
  }

  /** One look; true when it is over. */
  look(sessionId: string, process: WorkerProcess): boolean {
    const { generation } = process;
    if (this.#children.handleOf(generation)) return false;
    const verdict = verdictOf(this.#context.observer, process);
    if (verdict.kind !== "gone" && verdict.kind !== "replaced") return false;
    this.#context.registry.dispatch(sessionId, { type: "process_gone", generation, how: verdict.kind });
    return true;
  }

  watch(sessionId: string, process: WorkerProcess): void {
    const { generation } = process;
    if (this.#polling.has(generation) || this.#isTold(sessionId, process) || this.look(sessionId, process)) return;
    this.#polling.add(generation);
    const poll = (): void => {
      const awaited = awaitsProcess(this.#context.registry.newest(sessionId), generation);
      if (!awaited || this.#isTold(sessionId, process) || this.look(sessionId, process)) {
        this.#polling.delete(generation);
        return;
      }
      this.#context.clock.setTimer(POLL_MS, poll);
    };
    this.#context.clock.setTimer(POLL_MS, poll);
  }

  /**
   * True when its end will be told by itself. Where the kernel gives no event, the release of its lifeline does; that may come
   * late, when somebody else has it, and so whoever waits looks as well.
   */
  #isTold(sessionId: string, process: WorkerProcess): boolean {
    const isHeld = this.#hold(sessionId, process);
    const isChild = this.#children.handleOf(process.generation) !== null;
    return isChild || (isHeld && this.#context.observer.capabilities().exits === "events");
  }

  /** Taken hold of only when it is current by every proof there is. */
  #hold(sessionId: string, process: WorkerProcess): boolean {
    const { generation, identity, lifelinePath } = process;
    if (this.#held.has(generation) || this.#children.handleOf(generation)) return true;
    const { observer, registry, log } = this.#context;
    if (verdictOf(observer, process).kind !== "current") return false;
    const opened = observer.open(identity, { lifelinePath });
    if (opened.kind !== "opened") return false;
    const { handle } = opened;
    this.#held.set(generation, handle);
    handle.onExit((exit: ExitInfo) => {
      this.#held.delete(generation);
      handle[Symbol.dispose]();
      log.info({ sessionId, generation, exit }, "the adopted worker ended");
      registry.dispatch(sessionId, { type: "process_gone", generation, how: "gone" });
    });
    return true;
  }

  signal(stamp: Stamp, process: WorkerProcess, order: { signal: "SIGTERM" | "SIGKILL"; stopId: string }): void {
    const { counters, registry, log } = this.#context;
    this.#trees.collect(process);
    const outcome = this.#send(process, order.signal);
    const sent = outcome.kind === "sent";
    if (sent) counters.signalsSent += 1;
    else counters.signalsRefused += 1;
    if (sent && order.signal === "SIGKILL") counters.escalations += 1;
    log.info({ sessionId: stamp.sessionId, generation: process.generation, signal: order.signal, outcome }, "signal");
    registry.answer(stamp, { type: "signalled", stopId: order.stopId, signal: order.signal, sent });
  }

  /** The signal re-observes in its own turn, and the generation must stand in the process's environment. */
  #send(process: WorkerProcess, signal: "SIGTERM" | "SIGKILL"): SignalOutcome {
    const { observer } = this.#context;
    const { generation, identity } = process;
    const verdict = verdictOf(observer, process);
    if (verdict.kind !== "current") return { kind: "not-sent", verdict };
    const options = { environment: { name: GENERATION_NAME, value: generation } };
    const handle = this.#children.handleOf(generation) ?? this.#held.get(generation);
    return handle ? handle.signal(signal, options) : observer.signal(identity, signal, options);
  }
}
