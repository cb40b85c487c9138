import { invariant, reasonOf } from "@holdfast/shared-process";
import type { Clock } from "@holdfast/shared-process";
import { ProtocolError } from "@holdfast/client/protocol";
import type { EventBody, SteerOutcome } from "@holdfast/client/protocol";
import type { Agent, AgentHost, TurnEnd } from "../agents/agent.ts";
import type { CancelParams, SubmitAnswer, SubmitParams, WorkerReport } from "../transport/messages.ts";
import type { AdmitResult, SessionStore, SettledAs } from "../transport/store-contract.ts";
import { titleOf } from "../transport/store-recovery.ts";
import { checkText } from "../transport/check-text.ts";
import { codeOf, toProtocolError } from "../transport/admission.ts";
import { emptyQueue, isIdle, reduce } from "./queue.ts";
import type { Entry, QueueEffect, QueueEvent, QueueState } from "./queue.ts";

export interface SessionOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly createAgent: (host: AgentHost) => Agent;
  /** Something of the report changed. */
  readonly onChange: () => void;
}

const RETRY_MS = 1_000;
const REMEMBERED_CANCELS = 64;
const REMEMBER_MS = 1_000;

/** Carries out what the queue decides, between the durable store and the agent. */
export class Session {
  readonly agent: Agent;
  readonly #options: SessionOptions;
  /** What each open steer did, and who waits to hear it. */
  readonly #steers = new Map<string, { outcome: SteerOutcome | null; tell: (outcome: SteerOutcome) => void }>();
  /** Steers that were dispatched and found their turn gone: they become turns without a second dispatch. */
  readonly #dispatched = new Set<string>();
  #queue: QueueState = emptyQueue;
  /** The last cancels by their request: a client that lost the answer sends again, and must not hit harder for it (I143). */
  #cancels: readonly string[] = [];
  #admitting = 0;
  #lastActivityAt: number;
  #degraded: string | null = null;
  /** How a turn that is ended by the worker's own end is recorded. */
  #endTurnsAs: "cancelled" | "interrupted" = "cancelled";

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#lastActivityAt = options.clock.now();
    this.agent = options.createAgent({
      record: (events) => this.#record(events),
      // In a turn of its own: an agent may end a turn while it is being given it.
      ended: (turnId, end) => queueMicrotask(() => void this.#turnEnded(turnId, end)),
    });
  }

  get report(): WorkerReport {
    return {
      activity: this.isIdle ? "idle" : "working",
      openOperations: this.#options.store.actions().length,
      lastActivityAt: this.#lastActivityAt,
      waitingFor: null,
      degraded: this.#degraded,
    };
  }

  get isIdle(): boolean {
    return isIdle(this.#queue) && this.#admitting === 0 && this.#options.store.actions().length === 0;
  }

  get hasTurn(): boolean {
    return this.#queue.turn !== null;
  }

  /** Puts back what was accepted before, ahead of anything new. */
  restoreActions(): void {
    this.#apply({ type: "restored", entries: this.#options.store.actions().map(entryOf) });
  }

  async submit(params: SubmitParams): Promise<SubmitAnswer> {
    if (this.#queue.gate === "closed") throw new ProtocolError("session_stopping", "the session is stopping");
    const { store } = this.#options;
    checkText(params.text, store.actions());
    this.#admitting += 1;
    let result: AdmitResult;
    try {
      result = await store.admit(params);
    } catch (error) {
      // What stands in the place of a file can be moved out: nothing was written, and the next one is tried anew.
      if (codeOf(error) !== "log_lost") this.#degrade(error);
      throw toProtocolError(error);
    } finally {
      this.#admitting -= 1;
    }
    if (this.#degraded === "disk_full") this.#recovered();
    if (result.kind === "reused")
      throw new ProtocolError("request_id_reused", "the request id was used for another request");
    if (result.kind === "repeated")
      return { actionId: result.actionId, status: this.#statusOf(params, result), cursor: result.cursor };
    const { action, cursor } = result;
    const { actionId } = action;
    const steered = action.kind === "steer" ? this.#awaitSteer(actionId) : null;
    this.#apply({ type: "admitted", entry: entryOf(action), interrupt: params.interrupt ?? false });
    return { actionId, status: steered ? await steered : "accepted", cursor };
  }

  #statusOf(params: SubmitParams, repeated: Extract<AdmitResult, { kind: "repeated" }>): SubmitAnswer["status"] {
    if (params.kind !== "steer") return "accepted";
    return repeated.settled?.steer ?? this.#steers.get(repeated.actionId)?.outcome ?? "queued";
  }

  #awaitSteer(actionId: string): Promise<SteerOutcome> {
    return new Promise((tell) => void this.#steers.set(actionId, { outcome: null, tell }));
  }

  /** Ends the turn that runs when it is asked, and no later one however often it is repeated, over any crash (I143). */
  async cancel({ requestId, hash, actionId }: CancelParams): Promise<void> {
    const target = actionId ?? this.#queue.turn?.entry.actionId;
    if (this.#cancels.includes(requestId)) return;
    this.#cancels = [...this.#cancels.slice(-REMEMBERED_CANCELS), requestId];
    const seen = await this.#remember({ requestId, hash });
    if (seen === "reused") this.#cancels = this.#cancels.filter((other) => other !== requestId);
    if (seen === "reused") throw new ProtocolError("request_id_reused", "the request id was used for another request");
    if (seen === "first" && target !== undefined) this.#apply({ type: "cancel", actionId: target });
  }

  /** A full or a slow disk must not keep a turn from being cancelled: this worker remembers it in any case. */
  async #remember(request: { requestId: string; hash: string }): Promise<"first" | "repeated" | "reused"> {
    const { store, clock } = this.#options;
    let timer: Disposable | undefined;
    const late = new Promise<"first">((resolve) => {
      timer = clock.setTimer(REMEMBER_MS, () => resolve("first"));
    });
    try {
      return await Promise.race([store.once(request), late]);
    } catch (error) {
      this.#degrade(error);
      return "first";
    } finally {
      timer?.[Symbol.dispose]();
    }
  }

  /** Nothing new starts, and the running turn is asked to end. */
  close(endTurnsAs: "cancelled" | "interrupted"): void {
    this.#endTurnsAs = endTurnsAs;
    this.#apply({ type: "close" });
  }

  #apply(event: QueueEvent): void {
    // An end is nothing that the session did: whoever looks at it afterwards finds what was recorded before it.
    if (event.type !== "close") this.#lastActivityAt = this.#options.clock.now();
    const { state, effects } = reduce(this.#queue, event);
    this.#queue = state;
    for (const effect of effects) void this.#perform(effect);
    this.#options.onChange();
  }

  async #perform(effect: QueueEffect): Promise<void> {
    switch (effect.type) {
      case "start":
        return this.#start(effect.entry);
      case "inject":
        return this.#inject(effect.entry, effect.into);
      case "steered":
        return this.#steered(effect.entry, effect.outcome);
      case "cancel_turn":
        this.agent.cancel(effect.actionId);
        return;
      case "drop":
        await this.#record([{ type: "action_cancelled", actionId: effect.entry.actionId, reason: "cancelled" }]);
        return this.#settle(effect.entry.actionId, { outcome: "cancelled", reason: "cancelled" });
    }
  }

  async #start({ actionId, text }: Entry): Promise<void> {
    if (!(await this.#dispatch(actionId))) {
      this.#apply({ type: "dispatch_failed", actionId });
      if (this.#degraded === "disk_full") this.#options.clock.setTimer(RETRY_MS, () => this.#apply({ type: "retry" }));
      return;
    }
    await this.#record([{ type: "turn_started", turnId: actionId, actionId }]);
    this.agent.run(actionId, text);
    this.#apply({ type: "started", actionId });
  }

  async #inject(entry: Entry, into: string): Promise<void> {
    const { actionId, text } = entry;
    const dispatched = await this.#dispatch(actionId);
    if (!dispatched || !this.agent.inject(into, text)) {
      if (dispatched) this.#dispatched.add(actionId);
      return this.#apply({ type: "inject_failed", entry });
    }
    await this.#steered(entry, "injected");
    await this.#settle(actionId, { outcome: "ended" });
  }

  /** False: nothing may be sent, the note did not reach the disk. */
  async #dispatch(actionId: string): Promise<boolean> {
    if (this.#dispatched.delete(actionId)) return true;
    try {
      await this.#options.store.dispatch(actionId);
      if (this.#degraded === "disk_full") this.#recovered();
    } catch (error) {
      this.#degrade(error);
      return false;
    }
    return true;
  }

  async #steered({ actionId }: Entry, outcome: SteerOutcome): Promise<void> {
    const waiting = this.#steers.get(actionId);
    if (waiting) waiting.outcome = outcome;
    waiting?.tell(outcome);
    await this.#record([{ type: "steer", actionId, outcome }]);
  }

  async #turnEnded(actionId: string, end: TurnEnd): Promise<void> {
    this.#apply({ type: "ended", actionId });
    const { turn, gate } = this.#queue;
    invariant(turn?.phase === "settling" && turn.entry.actionId === actionId, "an agent ends the turn it runs");
    const stopReason = gate === "closed" && end.stopReason === "cancelled" ? this.#endTurnsAs : end.stopReason;
    const { exitCode, cwd } = end;
    const status = exitCode === undefined ? {} : { exitCode };
    const ended = {
      type: "turn_ended",
      turnId: actionId,
      actionId,
      stopReason,
      ...status,
      ...(cwd === undefined ? {} : { cwd }),
    } as const;
    const { kind, text } = turn.entry;
    if (stopReason === "interrupted")
      await this.#record([
        { type: "interrupted", operations: [{ operationId: actionId, kind, title: titleOf(text) }] },
      ]);
    await this.#record([ended]);
    await this.#settle(actionId, {
      outcome: stopReason === "interrupted" ? "interrupted" : "ended",
      stopReason,
      ...status,
    });
    this.#apply({ type: "settled", actionId });
  }

  async #settle(actionId: string, as: SettledAs): Promise<void> {
    const steer = this.#steers.get(actionId)?.outcome;
    await this.#persist(() => this.#options.store.settle(actionId, steer ? { ...as, steer } : as));
    this.#steers.delete(actionId);
    this.#options.onChange();
  }

  async #record(events: readonly EventBody[]): Promise<void> {
    for (const event of events) {
      try {
        this.#options.store.append(event);
      } catch (error) {
        this.#degrade(error);
        await this.#persist(async () => void this.#options.store.append(event));
      }
    }
  }

  /** Tries again while the disk is full (I141). With a file that takes nothing more it waits for the worker's end: the report says why. */
  async #persist(write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await write();
        if (this.#degraded === "disk_full") this.#recovered();
        return;
      } catch (error) {
        this.#degrade(error);
        if (codeOf(error) === "disk_full")
          await new Promise<void>((resolve) => void this.#options.clock.setTimer(RETRY_MS, resolve));
        else await new Promise<never>(() => undefined);
      }
    }
  }

  #degrade(error: unknown): void {
    this.#degraded = codeOf(error) === "disk_full" ? "disk_full" : reasonOf(error);
    this.#options.onChange();
  }

  #recovered(): void {
    this.#degraded = null;
    this.#options.onChange();
  }
}

const entryOf = ({ actionId, kind, text }: Entry): Entry => ({ actionId, kind, text });
