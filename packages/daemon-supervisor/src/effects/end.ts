import { CodedError, reasonOf } from "@holdfast/shared-process";
import { readJournal, removeFile, removeJournal } from "@holdfast/recovery-journal";
import { isAction, operationKinds, sessionDirectory, verdictOf } from "@holdfast/session-worker/transport";
import type { RetainedProcess, SessionStore } from "@holdfast/session-worker/transport";
import type { Stamp } from "../lifecycle/answers.ts";
import type { StopIntent, WorkerProcess } from "../lifecycle/state.ts";
import { takesNothing } from "../disk.ts";
import type { Context } from "./context.ts";
import { freshValues } from "./context.ts";
import { leftBy } from "./leftovers.ts";
import type { Stores } from "./stores.ts";
import type { Trees } from "./trees.ts";

/** A leftover that cannot be proven gone by then is retained, not waited for (DESIGN §3.3). */
const RETAIN_AFTER_MS = 10_000;

interface Order {
  readonly goal: StopIntent["goal"];
  /** Asked anew after each wait, in the turn of what only this goal may do (I17): a resume may have rescinded it meanwhile. */
  readonly isCurrent: () => boolean;
}

/** Ends what a worker left behind once it is proven gone: its tree, its open work, its run-time files. */
export class Ender {
  readonly #context: Context;
  readonly #stores: Stores;
  readonly #trees: Trees;
  /** When the processes of a generation could first not be listed. */
  readonly #since = new Map<string, number>();

  constructor(context: Context, stores: Stores, trees: Trees) {
    this.#context = context;
    this.#stores = stores;
    this.#trees = trees;
  }

  /** Recovery: interrupted work is marked, the rest stays queued; the store stays open to admit requests. */
  settle(stamp: Stamp, process: WorkerProcess): Promise<void> {
    const { sessionId } = stamp;
    const { registry, counters } = this.#context;
    const { generation } = process;
    return this.#stores.inLane(sessionId, async () => {
      try {
        const left = await this.#sweep(process, false);
        const opened = await this.#stores.open(sessionId);
        if (opened.kind !== "opened") {
          const [reason, terminal] =
            opened.kind === "owned" ? ["its journal has another writer", false] : [opened.reason, !opened.mayPass];
          registry.answer(stamp, { type: "settle_failed", generation, terminal, reason });
          return;
        }
        counters.interruptedActions += (await opened.store.settleInterrupted()).length;
        await this.#retain(opened.store, left);
        this.#removeRunFiles(process);
        this.#trees.forget(generation);
        counters.recoveries += 1;
        const fresh = freshValues(this.#context, sessionId);
        registry.answer(stamp, { type: "settled", generation, fresh });
      } catch (error) {
        await this.#stores.close(sessionId).catch((problem: unknown) => {
          // The first error is the one that is told; what was not released is claimed again by the next try.
          this.#context.log.warn({ sessionId, reason: reasonOf(problem) }, "its files could not be released");
        });
        registry.answer(stamp, { type: "settle_failed", generation, terminal: false, reason: reasonOf(error) });
      }
    });
  }

  /** The idempotent end of a stop (I13): whatever fails is tried again by the finalizer's timer. */
  finalize(stamp: Stamp, process: WorkerProcess | null, intent: StopIntent): Promise<void> {
    const { sessionId } = stamp;
    const { registry } = this.#context;
    const { stopId, goal } = intent;
    // A changed goal has its own clean-up behind this one, and what it keeps must not be settled here (I7).
    const order = { goal, isCurrent: () => this.#isCurrent(sessionId, stopId) };
    return this.#stores.inLane(sessionId, async () => {
      try {
        if (!order.isCurrent()) return;
        const left = process ? await this.#sweep(process, intent.force) : [];
        if (!order.isCurrent()) return;
        await this.#settleUnlessFull(sessionId, order, left);
        if (!order.isCurrent()) return;
        if (process) {
          this.#removeRunFiles(process);
          this.#trees.forget(process.generation);
        }
        registry.answer(stamp, { type: "finalized", stopId, fresh: freshValues(this.#context, sessionId) });
      } catch (error) {
        const reason = reasonOf(error);
        this.#context.log.warn({ sessionId, stopId, reason }, "clean-up failed; it is tried again");
        registry.answer(stamp, { type: "finalize_failed", stopId, reason });
      }
    });
  }

  /** Before a stopped session is brought back: what its stop could not settle stays stopped (I168). */
  settleLeftover(sessionId: string): Promise<void> {
    const directory = `${sessionDirectory(this.#context.home, sessionId)}/journal`;
    const report = readJournal(directory, operationKinds, this.#context.fs);
    return report.kind === "ok" && report.open.some(isAction) ? this.settleRested(sessionId) : Promise.resolve();
  }

  /** What is under way in the files of a session that rests, and of which no process is left, is over; the files are nobody's then. */
  settleRested(sessionId: string): Promise<void> {
    const isCurrent = (): boolean => this.#context.registry.newest(sessionId) === null;
    return this.#stores.inLane(sessionId, () => this.#settleFor(sessionId, { goal: "stop", isCurrent }, []));
  }

  #isCurrent(sessionId: string, stopId: string): boolean {
    const state = this.#context.registry.newest(sessionId);
    return state?.name === "finalizing" && state.intent.stopId === stopId;
  }

  /** Only the worker's own death gates the end of a stop; a full disk leaves the settling to the resume that may come. */
  async #settleUnlessFull(sessionId: string, order: Order, left: readonly RetainedProcess[]): Promise<void> {
    try {
      await this.#settleFor(sessionId, order, left);
    } catch (error) {
      if (!takesNothing(error) || order.goal === "passivate" || order.goal === "replace") throw error;
      this.#context.log.warn(
        { sessionId, reason: reasonOf(error), left },
        "the disk takes nothing; open work is settled at the resume",
      );
    }
  }

  /** What was interrupted and what is left is settled under any goal; the rest only while the goal stands. */
  async #settleFor(sessionId: string, order: Order, left: readonly RetainedProcess[]): Promise<void> {
    const opened = await this.#stores.open(sessionId);
    if (opened.kind === "refused") {
      // Damaged files stay as they are (I71); a stop is not held up by what it could not settle (I167).
      this.#context.log.warn({ sessionId, reason: opened.reason, left }, "open work could not be settled");
      return;
    }
    if (opened.kind === "owned") throw new CodedError("session_in_use", "its journal has another writer");
    const { store } = opened;
    try {
      await store.settleInterrupted();
      await this.#sayEnd(store, order);
      await this.#retain(store, left);
    } finally {
      await this.#stores.close(sessionId);
    }
    if (store.remembers || !order.isCurrent()) return;
    removeJournal(`${sessionDirectory(this.#context.home, sessionId)}/journal`, this.#context.fs);
  }

  async #sayEnd(store: SessionStore, { goal, isCurrent }: Order): Promise<void> {
    if (!isCurrent() || goal === "replace") return;
    if (goal === "passivate") {
      store.append({ type: "state", state: "passivated" });
      return;
    }
    // Says of all that waits that it is cancelled before it first waits itself: a later resume comes too late for it.
    await store.cancelAll("stopped");
    if (!isCurrent()) return;
    store.append({ type: "state", state: "stopped" });
    await store.sync();
  }

  /** What is left is listed until it is gone; it holds up nothing (I167). */
  async #retain(store: SessionStore, left: readonly RetainedProcess[]): Promise<void> {
    const { observer } = this.#context;
    const kindOf = (identity: RetainedProcess["identity"]): string =>
      verdictOf(observer, { identity, lifelinePath: null }).kind;
    await store.retained.settle(({ identity }) => ["gone", "replaced"].includes(kindOf(identity)));
    await Promise.all(left.map((process) => store.retained.add(process)));
  }

  async #sweep(process: WorkerProcess, force: boolean): Promise<readonly RetainedProcess[]> {
    const { generation, marker } = process;
    const report = await this.#trees.end(process, force);
    if (report.scan === "incomplete" && !this.#isLong(generation))
      throw new CodedError("scan_incomplete", "processes could not be listed");
    this.#since.delete(generation);
    const { processes: unproven } = report.unproven;
    if (unproven.length > 0) this.#context.log.warn({ generation, unproven }, "may be of the session; not signalled");
    return leftBy(report, marker);
  }

  /** A failed scan is not an empty one (I117), but only the worker's own death gates the end: after ten seconds it goes on. */
  #isLong(generation: string): boolean {
    const now = this.#context.clock.monotonic();
    const since = this.#since.get(generation) ?? now;
    this.#since.set(generation, since);
    return now - since >= RETAIN_AFTER_MS;
  }

  #removeRunFiles({ socketPath, lifelinePath, protocol }: WorkerProcess): void {
    // Somebody else named and made those.
    if (protocol === null) return;
    // Names carry the generation, so nobody else can have bound or made them.
    removeFile(this.#context.fs, socketPath);
    if (lifelinePath !== null) removeFile(this.#context.fs, lifelinePath);
  }
}
