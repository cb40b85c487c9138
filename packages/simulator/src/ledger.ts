import { errorCodes } from "@holdfast/client/protocol";
import type { MethodName } from "@holdfast/client/protocol";
import type { Random } from "./random.ts";
import type { World } from "./world/world.ts";

interface Sent {
  readonly method: MethodName;
  readonly params: object;
  readonly requestId: string;
  /** How often it was sent without an answer before. */
  readonly lost: number;
}

export interface Answered extends Sent {
  readonly answer: object;
  readonly askedBefore: number | null;
}

export interface Refused extends Sent {
  readonly code: string;
}

/** An action that somebody was told is accepted. */
export interface Acknowledged {
  readonly requestId: string;
  readonly sessionId: string;
  readonly actionId: string;
}

const SUBMISSIONS: ReadonlySet<MethodName> = new Set(["session/prompt", "session/steer", "session/follow_up"]);

const textOf = (value: object, name: string): string | null => {
  const found: unknown = Object.entries(value).find(([key]) => key === name)?.[1];
  return typeof found === "string" ? found : null;
};

/** What clients were told, to be held against what became of it. */
export class Ledger {
  readonly #world: World;
  readonly #sessions = new Set<string>();
  readonly #deleted = new Set<string>();
  readonly #answered = new Map<string, Answered>();
  readonly #acknowledged = new Map<string, Acknowledged>();
  /** Requests that were refused without ever having been sent in vain: they must not run. */
  readonly #refused = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  get acknowledged(): readonly Acknowledged[] {
    return [...this.#acknowledged.values()].filter(({ sessionId }) => !this.#deleted.has(sessionId));
  }

  get refusals(): ReadonlySet<string> {
    return this.#refused;
  }

  pickSession(random: Random): string | null {
    return this.#sessions.size === 0 ? null : random.pick([...this.#sessions]);
  }

  /** A request that was answered, to be sent once more as it was. */
  pickAnswered(random: Random): Answered | null {
    return this.#answered.size === 0 ? null : random.pick([...this.#answered.values()]);
  }

  answered(answered: Answered): void {
    const { method, params, requestId, answer, askedBefore } = answered;
    const sessionId = textOf(answer, "sessionId") ?? textOf(params, "session");
    const state = textOf(answer, "state");
    const actionId = textOf(answer, "actionId");
    this.#world.trace(`${requestId} ${method} ✓ ${state ?? textOf(answer, "status") ?? ""}`);
    if (method === "session/list") return;
    const before = this.#answered.get(requestId);
    if (before === undefined) this.#answered.set(requestId, answered);
    if (sessionId === null) return;
    if (method === "session/new") {
      this.#expectSame(requestId, textOf(before?.answer ?? answer, "sessionId"), sessionId);
      this.#sessions.add(sessionId);
    }
    if (method === "session/delete") {
      this.#sessions.delete(sessionId);
      this.#deleted.add(sessionId);
    }
    if (method === "session/stop" && before === undefined)
      this.#world.checks.toldOfStop(sessionId, { state: state ?? "nothing", askedBefore });
    if (SUBMISSIONS.has(method) && actionId !== null) {
      this.#expectSame(requestId, this.#acknowledged.get(requestId)?.actionId ?? actionId, actionId);
      this.#acknowledged.set(requestId, { requestId, sessionId, actionId });
    }
  }

  #expectSame(requestId: string, first: string | null, second: string): void {
    if (first !== second) this.#world.checks.violated(`I143 ${requestId} was answered by two different outcomes`);
  }

  refused({ method, params, requestId, code, lost }: Refused): void {
    const session = textOf(params, "session");
    // It may have been deleted by the first of its requests, or by one that a failing disk has cut off.
    const mayBeDone = method === "session/delete" && (lost > 0 || code === "internal");
    if (mayBeDone && session !== null) this.#deleted.add(session);
    const exit = Object.entries(errorCodes).find(([name]) => name === code)?.[1].exit;
    const isRefusal = exit === 5 || exit === 6 || exit === 7;
    if (SUBMISSIONS.has(method) && isRefusal && lost === 0 && !this.#acknowledged.has(requestId))
      this.#refused.add(requestId);
    if (code === "internal" && !this.#world.swarm.faults.includes("disk_error"))
      this.#world.checks.violated(`${requestId} ${method} failed as internal`);
  }
}
