import type { WaitAnswer, WaitCondition } from "@holdfast/client/protocol";
import type { OfflineWait } from "@holdfast/daemon-supervisor/offline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "./context.ts";
import { ask, noDaemon } from "./reads.ts";

export interface WaitRequest {
  /** As the command line calls them. */
  readonly sessions: readonly string[];
  readonly condition: WaitCondition;
  readonly any: boolean;
  readonly timeoutMs: number | null;
}

/** One session when it was looked at last. */
export interface Seen extends OfflineWait {
  readonly label: string;
}

/** A daemon is asked again after this time, so that no request is open for longer. */
const SLICE_MS = 30_000;
/** Without a daemon the state directory is looked at this often; no daemon is asked oftener. */
const POLL_MS = 250;
/** One that was there and restarts is back by then. */
const RESTART_MS = 2_000;

/** One wait, over as many daemons as come and go. Looks at a session's state and never starts anything for it. */
export class WaitLoop {
  readonly #context: Context;
  readonly #request: WaitRequest;
  readonly #signal: AbortSignal;
  readonly #deadline: number;
  /** By id, in the order of the request. */
  readonly #seen = new Map<string, Seen>();
  #daemonSeenAt: number | null = null;
  #said = false;

  constructor(context: Context, request: WaitRequest, signal: AbortSignal) {
    this.#context = context;
    this.#request = request;
    this.#signal = signal;
    this.#deadline = performance.now() + (request.timeoutMs ?? Number.POSITIVE_INFINITY);
  }

  get seen(): readonly Seen[] {
    return [...this.#seen.values()];
  }

  get done(): boolean {
    return this.#request.any ? this.seen.some(({ matched }) => matched) : this.seen.every(({ matched }) => matched);
  }

  /** Ends when it is done or the time is over. Throws what the daemon refuses, such as `session_not_found`. */
  async run(): Promise<void> {
    const { sessions } = this.#request;
    // Waits for nothing: from then on a session goes by its id, also when it gets another name.
    const first = await this.#look(sessions, { timeoutMs: 0, any: false });
    for (const [index, found] of first.entries())
      this.#seen.set(found.sessionId, { ...found, label: sessions[index] ?? found.sessionId });
    const { any } = this.#request;
    while (!this.done && this.#leftMs() > 0) {
      const began = performance.now();
      const timeoutMs = Math.min(SLICE_MS, Math.ceil(this.#leftMs()));
      for (const found of await this.#look([...this.#seen.keys()], { timeoutMs, any })) this.#see(found);
      const pauseMs = Math.min(POLL_MS - (performance.now() - began), this.#leftMs());
      if (!this.done && pauseMs > 0) await sleep(pauseMs, undefined, { signal: this.#signal });
    }
  }

  #leftMs(): number {
    return this.#deadline - performance.now();
  }

  #see(found: OfflineWait): void {
    const before = this.#seen.get(found.sessionId);
    if (before) this.#seen.set(found.sessionId, { ...found, label: before.label });
  }

  async #look(sessions: readonly string[], how: { timeoutMs: number; any: boolean }): Promise<OfflineWait[]> {
    const { condition } = this.#request;
    const params = { sessions: [...sessions], for: condition, ...how };
    const answered = await ask(this.#context, (client) =>
      client.call("session/wait", params, { signal: this.#signal }),
    );
    if (answered) {
      this.#daemonSeenAt = performance.now();
      return answered.value.sessions.map(fromDaemon);
    }
    await this.#sayAbsence();
    const { waitOffline } = await import("@holdfast/daemon-supervisor/offline");
    return waitOffline(this.#context.options.home, sessions, condition);
  }

  async #sayAbsence(): Promise<void> {
    const restarts = this.#daemonSeenAt !== null && performance.now() - this.#daemonSeenAt < RESTART_MS;
    if (this.#said || restarts) return;
    this.#said = true;
    await this.#context.say(noDaemon(this.#context));
  }
}

const fromDaemon = (answer: WaitAnswer): OfflineWait => ({
  sessionId: answer.sessionId,
  matched: answer.matched,
  answer: () => answer,
});
