import { ProtocolError } from "@holdfast/client/protocol";
import type { MethodName } from "@holdfast/client/protocol";
import type { Ledger } from "./ledger.ts";
import type { World } from "./world/world.ts";

/** The answer did not come: whether the request had its effect is not known. */
class Lost extends Error {
  override readonly name = "Lost";
}

const PATIENCE_MS = 90_000;
const NO_DAEMON_MS = 500;

const weights = {
  new: 3,
  prompt: 12,
  steer: 2,
  follow_up: 1,
  cancel: 2,
  stop: 3,
  force_stop: 1,
  archive: 1,
  resume: 4,
  retry: 1,
  passivate: 2,
  delete: 0.3,
  again: 2,
  list: 1,
} as const;
type Verb = keyof typeof weights;

const REVIVING: ReadonlySet<MethodName> = new Set(["session/new", "session/resume", "session/retry"]);

interface Request {
  readonly method: MethodName;
  readonly params: object;
  readonly requestId: string;
}

/** Somebody who uses the daemon: sends requests, sends them again when no answer comes, and starts a daemon where none is. */
export class Client {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #label: string;
  #count = 0;
  #isBusy = false;

  constructor(world: World, ledger: Ledger, label: string) {
    this.#world = world;
    this.#ledger = ledger;
    this.#label = label;
    this.#next();
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  #next(): void {
    this.#world.scheduler.plan(this.#world.random.between(1, 600), `${this.#label} acts`, () => {
      if (!this.#world.isFaulty) return;
      this.#isBusy = true;
      void this.#act().finally(() => {
        this.#isBusy = false;
        this.#next();
      });
    });
  }

  async #act(): Promise<void> {
    const verb = this.#world.random.weighted(weights);
    const request = this.#request(verb);
    if (request) await this.#insist(request);
  }

  #request(verb: Verb): Request | null {
    const { random } = this.#world;
    const sessionId = this.#ledger.pickSession(random);
    this.#count += 1;
    const requestId = `${this.#label}-${this.#count}`;
    if (verb === "again") return this.#ledger.pickAnswered(random);
    if (verb === "list") return { method: "session/list", params: {}, requestId };
    if (verb === "new" || sessionId === null)
      return this.#ledger.sessionCount >= this.#world.swarm.sessions
        ? null
        : { method: "session/new", params: { requestId, cwd: "/", environment: {} }, requestId };
    const of = (method: MethodName, more: object = {}): Request => ({
      method,
      params: { requestId, session: sessionId, ...more },
      requestId,
    });
    const duration = random.between(1, this.#world.swarm.turnMs);
    const text = `${requestId} ${duration}${random.chance(0.2) ? " stray" : ""}`;
    switch (verb) {
      case "prompt":
        return of("session/prompt", { text });
      case "steer":
        return of("session/steer", { text, ...(random.chance(0.3) ? { interrupt: true } : {}) });
      case "follow_up":
        return of("session/follow_up", { text });
      case "cancel":
        return of("session/cancel");
      case "stop":
        return of("session/stop", { wait: random.chance(0.7) });
      case "force_stop":
        return of("session/stop", { force: true, wait: true });
      case "archive":
        return of("session/stop", { archive: true, wait: random.chance(0.7) });
      case "resume":
        return of("session/resume");
      case "retry":
        return of("session/retry");
      case "passivate":
        return of("session/passivate");
      case "delete":
        return of("session/delete");
    }
  }

  /** Until an answer comes, of whatever kind. */
  async #insist(request: Request): Promise<void> {
    const { method, params, requestId } = request;
    const session = "session" in params && typeof params.session === "string" ? params.session : null;
    const revives = REVIVING.has(method) && session !== null;
    const askedBefore = session === null ? null : this.#world.checks.askedFor(session);
    if (revives) this.#world.checks.wantsBack(session);
    let lost = 0;
    for (;;) {
      try {
        const answer = await this.#send(request);
        this.#ledger.answered({ ...request, answer, lost, askedBefore });
        break;
      } catch (error) {
        if (error instanceof ProtocolError) {
          this.#world.trace(`${this.#label} ${requestId} ${method} ✗ ${error.code}`);
          this.#ledger.refused({ ...request, code: error.code, lost });
          break;
        }
        if (!(error instanceof Lost)) throw error;
        lost += 1;
        await this.#pause(this.#world.random.between(50, NO_DAEMON_MS));
      }
    }
    if (revives) this.#world.checks.wantedBack(session);
  }

  async #send({ method, params, requestId }: Request): Promise<object> {
    const { scheduler, random, swarm } = this.#world;
    const supervisor = this.#world.serving();
    if (supervisor === null) {
      if (!this.#world.isSupervised()) this.#world.startSupervisor();
      throw new Lost();
    }
    this.#world.trace(`${this.#label} ${requestId} ${method} → ${supervisor.process.label}`);
    const isUnheard = this.#world.isFaulty && random.chance(swarm.lostAnswers);
    return await new Promise<object>((resolve, reject) => {
      const lose = (): void => reject(new Lost());
      const ask = (): Promise<object> => supervisor.call(method, params);
      const later = (run: () => void): void => void scheduler.plan(this.#world.linkDelay(), `to ${this.#label}`, run);
      later(() =>
        supervisor.process.enter(() => {
          if (!supervisor.serves) return later(lose);
          void ask().then(
            (answer) => supervisor.process.isAlive && later(() => (isUnheard ? lose() : resolve(answer))),
            (error: unknown) =>
              supervisor.process.isAlive &&
              later(() => (isUnheard ? lose() : reject(error instanceof Error ? error : new Error(String(error))))),
          );
        }),
      );
      supervisor.process.onEnd(() => later(lose));
      scheduler.plan(PATIENCE_MS, `${this.#label} has waited`, lose);
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#world.scheduler.plan(ms, `${this.#label} tries again`, resolve));
  }
}
