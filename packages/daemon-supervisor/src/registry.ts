import { reasonOf } from "@holdfast/shared-process";
import { answered, answersNewest, issue } from "./lifecycle/answers.ts";
import type { Answer, Fact, Issued, Stamp } from "./lifecycle/answers.ts";
import { assertState } from "./lifecycle/invariants.ts";
import { generationOf, isEnding, reduce } from "./lifecycle/reduce.ts";
import type { Reduced } from "./lifecycle/reduce.ts";
import type { Effect, Event, Millis, State } from "./lifecycle/state.ts";
import type { Persisted, RegistryPorts, RequestStamp } from "./registry-ports.ts";

interface Next {
  readonly state: State | null;
  readonly effects: readonly Effect[];
  readonly request: RequestStamp | null;
}

interface Step extends Next {
  readonly stamp: Stamp;
}

interface Registration {
  state: State;
  /** What others see: the last state whose records are durable. */
  published: State;
  ended: boolean;
  /** Why its records cannot be written now. */
  problem: unknown;
  issued: Issued;
  outbox: Promise<void>;
  timer: Disposable | null;
}

type Listener = () => void;
type Dispatched = Reduced | { readonly kind: "absent" };

/** Wait before a refused write is tried again: long enough not to spin, short enough to return by itself when space does. */
const PERSIST_RETRY_MS = 500;
/** What a disk may take before those who wait for it are told. */
const DRAIN_MS = 5_000;

/**
 * All registrations of a home, each a state machine with one way in and an ordered outbox:
 *
 *     dispatch → reduce (synchronous) → [ persist → publish → effects ] in order, per registration
 *
 * so that one slow disk delays one session (I169), and nothing is visible that is not durable.
 */
export class Registry {
  readonly #ports: RegistryPorts;
  readonly #registrations = new Map<string, Registration>();
  readonly #listeners = new Map<string, Set<Listener>>();
  #revision = 0;
  #closed = false;

  constructor(ports: RegistryPorts) {
    this.#ports = ports;
  }

  /** Adds a registration in its first state, visible at once; its effects run when its records are written. */
  enroll(sessionId: string, state: State, effects: readonly Effect[], request: RequestStamp | null = null): void {
    assertState(state);
    const registration: Registration = {
      state,
      published: state,
      ended: false,
      problem: null,
      issued: new Map(),
      outbox: Promise.resolve(),
      timer: null,
    };
    this.#registrations.set(sessionId, registration);
    this.#commit(sessionId, registration, { state, effects, request });
  }

  /** The way in for what happens and for what is asked. Answers at once; what it caused shows in `published`. */
  dispatch(sessionId: string, event: Fact, request: RequestStamp | null = null): Dispatched {
    const registration = this.#live(sessionId);
    return registration ? this.#reduce(sessionId, registration, { event, request }) : { kind: "absent" };
  }

  /** The way in for what came of an effect. Only the newest of its kind is waited for (I62). */
  answer(stamp: Stamp, event: Answer): Dispatched {
    const { sessionId } = stamp;
    const registration = this.#live(sessionId);
    if (!registration) return { kind: "absent" };
    if (answersNewest(registration.issued, event, stamp)) {
      const before = registration.issued;
      registration.issued = answered(before, event);
      const decision = this.#reduce(sessionId, registration, { event, request: null });
      // The answer of another stop, say, is none: the right one is still to come.
      if (decision.kind === "stale") registration.issued = before;
      return decision;
    }
    const stale = { kind: "stale", why: "another effect" } as const;
    this.#ports.onDecision({ sessionId, before: registration.state, event, decision: stale });
    return stale;
  }

  #live(sessionId: string): Registration | null {
    const registration = this.#registrations.get(sessionId);
    return registration && !registration.ended && !this.#closed ? registration : null;
  }

  #reduce(
    sessionId: string,
    registration: Registration,
    { event, request }: { readonly event: Event; readonly request: RequestStamp | null },
  ): Reduced {
    let decision: Reduced;
    try {
      decision = reduce(registration.state, event, this.#ports.clock.monotonic());
    } catch (error) {
      // A bug of ours in one session must not take the others with it.
      this.#ports.onProblem(sessionId, `bug: ${reasonOf(error)}`);
      return { kind: "deny", code: "internal", why: reasonOf(error) };
    }
    this.#ports.onDecision({ sessionId, before: registration.state, event, decision });
    if (decision.kind === "move") {
      registration.state = decision.state;
      const { state, effects } = decision;
      this.#commit(sessionId, registration, { state, effects, request });
    } else if (decision.kind === "remove") {
      registration.ended = true;
      this.#commit(sessionId, registration, { state: null, effects: [], request: null });
    }
    return decision;
  }

  published(sessionId: string): State | null {
    return this.#registrations.get(sessionId)?.published ?? null;
  }

  /** The newest state, durable or not: for edges that must not act on what is already over. */
  newest(sessionId: string): State | null {
    const registration = this.#registrations.get(sessionId);
    return registration && !registration.ended ? registration.state : null;
  }

  /** Why what was decided for it is not written yet; `null` while nothing is wrong. It is tried again until it is. */
  problem(sessionId: string): unknown {
    return this.#registrations.get(sessionId)?.problem ?? null;
  }

  sessionIds(): string[] {
    return [...this.#registrations.keys()];
  }

  /** Resolves with the first published state (`null`: no registration) that `wanted` accepts, or `"timeout"`. */
  until(
    sessionId: string,
    wanted: (state: State | null) => boolean,
    timeoutMs: Millis,
  ): Promise<State | null | "timeout"> {
    const first = this.published(sessionId);
    if (wanted(first)) return Promise.resolve(first);
    return new Promise((resolve) => {
      const listeners = this.#listeners.get(sessionId) ?? new Set();
      this.#listeners.set(sessionId, listeners);
      const finish = (outcome: State | null | "timeout"): void => {
        listeners.delete(check);
        if (listeners.size === 0) this.#listeners.delete(sessionId);
        timer[Symbol.dispose]();
        resolve(outcome);
      };
      const check = (): void => {
        const state = this.published(sessionId);
        if (wanted(state)) finish(state);
      };
      listeners.add(check);
      const timer = this.#ports.clock.setTimer(timeoutMs, () => finish("timeout"));
    });
  }

  /** Writes the records of the newest state once more: somebody removed them. */
  rewrite(sessionId: string): void {
    const registration = this.#live(sessionId);
    if (registration) this.#commit(sessionId, registration, { state: registration.state, effects: [], request: null });
  }

  /** Takes no more events and lets its timers go; what was decided is still made durable. */
  close(): void {
    this.#closed = true;
    for (const { timer } of this.#registrations.values()) timer?.[Symbol.dispose]();
  }

  /** Resolves when everything decided so far for one session, or for all, is durable and published; false when that takes too long. */
  async drained(options: { readonly sessionId?: string; readonly timeoutMs?: Millis } = {}): Promise<boolean> {
    const { sessionId, timeoutMs = DRAIN_MS } = options;
    const one = sessionId === undefined ? undefined : this.#registrations.get(sessionId);
    const all = sessionId === undefined ? [...this.#registrations.values()] : one ? [one] : [];
    let timer: Disposable | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = this.#ports.clock.setTimer(timeoutMs, () => resolve(false));
    });
    const done = Promise.all(all.map(({ outbox }) => outbox)).then(() => true);
    try {
      return await Promise.race([done, late]);
    } finally {
      timer?.[Symbol.dispose]();
    }
  }

  #commit(sessionId: string, registration: Registration, next: Next): void {
    registration.timer?.[Symbol.dispose]();
    registration.timer = null;
    const last = registration.state;
    const revision = (this.#revision += 1);
    const step = { ...next, stamp: { sessionId, generation: generationOf(last), revision } };
    registration.issued = issue(registration.issued, next.effects, revision);
    registration.outbox = registration.outbox.then(async () => {
      const { state, request } = next;
      if (!(await this.#persist(sessionId, registration, { state, last, request }))) return this.#dropped(step);
      // Time runs from when it may be acted on: a disk that takes long does not use up what a worker is granted.
      if (registration.state === state) this.#setTimer(sessionId, registration, state);
      if (state) registration.published = state;
      else if (this.#registrations.get(sessionId) === registration) this.#registrations.delete(sessionId);
      this.#publish(sessionId, step);
    });
  }

  /** A launch whose state was never written is never run: whoever overtook it waits for its answer. */
  #dropped({ effects, stamp }: Step): void {
    for (const effect of effects) {
      if (effect.type !== "spawn") continue;
      const { generation } = effect;
      const fresh = this.#ports.fresh(stamp.sessionId);
      const reason = "overtaken before it was written";
      this.answer(stamp, { type: "spawn_failed", generation, terminal: false, reason, code: null, fresh });
    }
  }

  /** A bug in what looks on or acts must not stop this session's later moves. */
  #publish(sessionId: string, { state, effects, stamp }: Step): void {
    const steps = [
      () => this.#ports.onPublished(sessionId, state),
      ...(this.#listeners.get(sessionId) ?? []),
      ...(this.#closed ? [] : effects).map((effect) => () => this.#ports.run(stamp, effect)),
    ];
    for (const step of steps) {
      try {
        step();
      } catch (error) {
        this.#ports.onProblem(sessionId, `bug: ${reasonOf(error)}`);
      }
    }
  }

  /** False when the state was not written: a stop has overtaken it, whose own record may be one that a full disk still takes (I168). */
  async #persist(sessionId: string, registration: Registration, next: Persisted): Promise<boolean> {
    for (;;) {
      try {
        await this.#ports.persist(sessionId, next);
        registration.problem = null;
        return true;
      } catch (error) {
        registration.problem = error;
        this.#ports.onProblem(sessionId, `cannot write its records: ${reasonOf(error)}`);
        // Whoever ends now leaves the older records, which are whole, to its successor.
        if (this.#closed) return false;
        const isOvertaken = next.state !== null && registration.state !== next.state;
        if (isOvertaken && isEnding(registration.state)) return false;
        await new Promise<void>((resolve) => void this.#ports.clock.setTimer(PERSIST_RETRY_MS, resolve));
      }
    }
  }

  #setTimer(sessionId: string, registration: Registration, state: State | null): void {
    registration.timer?.[Symbol.dispose]();
    registration.timer = null;
    const due = state?.due;
    if (!due || registration.ended || this.#closed) return;
    const delay = Math.max(0, due.at - this.#ports.clock.monotonic());
    registration.timer = this.#ports.clock.setTimer(delay, () => {
      this.dispatch(sessionId, { type: "due", timer: due.timer, at: due.at, fresh: this.#ports.fresh(sessionId) });
    });
  }
}
