import { ConnectionLost, MAX_QUEUED_TEXT_BYTES, ProtocolError } from "@holdfast/client/protocol";
import type { ActionKind, MethodParams, Peer, SubmitResult } from "@holdfast/client/protocol";
import { CodedError } from "@holdfast/shared-process";
import {
  checkText,
  findRequest,
  requestHash,
  sessionDirectory,
  submitAnswerSchema,
  toProtocolError,
} from "@holdfast/session-worker/transport";
import type { SessionStore } from "@holdfast/session-worker/transport";
import { abortAfter } from "../effects/abort-after.ts";
import { isEnding } from "../lifecycle/reduce.ts";
import type { State } from "../lifecycle/state.ts";
import { reusedRequest } from "./reused-request.ts";
import type { Services } from "./services.ts";
import { wake } from "./wake.ts";

/** A silent worker: after this the request is given up (CLI.md §3). */
export const WORKER_SILENT_MS = 30_000;

/** Admits a prompt, steer or follow-up exactly once: into the live worker, or into the journal of a session between workers. */
export async function submit(
  services: Services,
  kind: ActionKind,
  params: MethodParams<"session/prompt">,
): Promise<SubmitResult> {
  const { requestId, text, interrupt } = params;
  if (Buffer.byteLength(text) > MAX_QUEUED_TEXT_BYTES)
    throw new ProtocolError("usage", `a prompt takes at most ${MAX_QUEUED_TEXT_BYTES} bytes`);
  // An id that another verb has used is refused here; those of prompts are known to the session itself.
  const { requests, context, sessions, submissions } = services;
  const isUsed = await requests.isUsed(requestId);
  // In one turn with its place among the submissions: nothing begins under the id between the two.
  if (isUsed || requests.isRunning(requestId) || context.catalog.createdBy(requestId)) throw reusedRequest(requestId);
  const selector = params.session;
  const resolve = (): string => sessions.actionable(selector).sessionId;
  return await submissions.run(requestId, { selector, resolve }, async (sessionId) => {
    const content = { text, ...(interrupt ? { interrupt } : {}) };
    const order = { requestId, hash: requestHash(kind, { sessionId, ...content }), kind, ...content };
    return { ...(await new Submission(services, sessionId, order).run()), requestId };
  });
}

type Order = { requestId: string; hash: string; kind: ActionKind; text: string; interrupt?: boolean };
type Answer = Omit<SubmitResult, "requestId">;

/** One submission on its way through whatever becomes of its session meanwhile. What it is told is so, or said to be unknown. */
class Submission {
  readonly #services: Services;
  readonly #sessionId: string;
  readonly #order: Order;
  readonly #deadline: number;
  /** It was sent, or written, and how that ended is not known: a refusal by whoever comes next does not say that it was never accepted. */
  #mayBeTaken = false;

  constructor(services: Services, sessionId: string, order: Order) {
    this.#services = services;
    this.#sessionId = sessionId;
    this.#order = order;
    this.#deadline = services.context.clock.monotonic() + WORKER_SILENT_MS;
  }

  async run(): Promise<Answer> {
    for (;;) {
      const state = this.#services.context.registry.published(this.#sessionId);
      const answer = await this.#attempt(state).catch((error: unknown) => this.#refused(error, state));
      if (answer) return answer;
      if (this.#services.context.clock.monotonic() > this.#deadline) throw this.#late();
    }
  }

  async #attempt(state: State | null): Promise<Answer | null> {
    const services = this.#services;
    const sessionId = this.#sessionId;
    services.sessions.actionable(sessionId);
    if (isStopping(state))
      throw new ProtocolError("session_stopping", "the session is stopping", {
        hint: `agent session resume ${sessionId}`,
      });
    if (state?.name === "failed")
      throw new ProtocolError(state.code, `the session has failed: ${state.reason}`, {
        hint: `agent session resume ${sessionId}`,
      });
    if (state === null || state.name === "passivated") {
      wake(services, sessionId);
      return this.#changed(state);
    }
    const peer = state.name === "ready" ? services.channels.peer(sessionId) : null;
    if (peer) return (await this.#toWorker(peer)) ?? this.#changed(state);
    const store = state.name === "recovering" ? services.stores.current(sessionId) : null;
    return (store && (await this.#toStore(store))) ?? this.#changed(state);
  }

  async #toWorker(peer: Peer): Promise<Answer | null> {
    const { kind, requestId } = this.#order;
    const method = kind === "follow_up" ? "session/follow_up" : `session/${kind}`;
    const { signal, timer } = abortAfter(this.#services.context.clock, WORKER_SILENT_MS);
    try {
      return submitAnswerSchema.parse(await peer.request(method, this.#order, { signal }));
    } catch (error) {
      if (error instanceof DOMException)
        throw new ProtocolError("timeout", "the worker did not answer; whether it took the request is not known", {
          hint: `repeat it with --request-id ${requestId}`,
        });
      if (!(error instanceof ConnectionLost)) throw error;
      // The same request under the same id, sent to whatever comes next, is admitted once at most.
      this.#mayBeTaken = true;
      return null;
    } finally {
      timer[Symbol.dispose]();
    }
  }

  #toStore(store: SessionStore): Promise<Answer | null> {
    const { stores } = this.#services;
    const order = this.#order;
    return stores.inLane(this.#sessionId, async () => {
      if (stores.current(this.#sessionId) !== store) return null;
      checkText(order.text, store.actions());
      const admitted = await store.admit(order).catch((error: unknown) => {
        this.#mayBeTaken ||= error instanceof CodedError && error.code === "admission_unknown";
        throw toProtocolError(error);
      });
      if (admitted.kind === "reused") throw reusedRequest(order.requestId);
      const status = order.kind === "steer" ? "queued" : "accepted";
      const actionId = admitted.kind === "repeated" ? admitted.actionId : admitted.action.actionId;
      return { actionId, status, cursor: admitted.cursor };
    });
  }

  /** A repeat gets its first outcome, from wherever it is known (I143); what was not taken, for certain, is refused. */
  async #refused(error: unknown, state: State | null): Promise<Answer | null> {
    if (!(error instanceof ProtocolError) || error.code === "request_id_reused") throw error;
    if (state !== null && state.name !== "failed" && !isStopping(state)) {
      // Whoever refuses lives, and may end or be replaced before it has looked for what came before.
      if (this.#mayBeTaken) return this.#changed(state);
      throw error;
    }
    const { home, fs } = this.#services.context;
    const { requestId, hash, kind } = this.#order;
    const found = findRequest({ directory: sessionDirectory(home, this.#sessionId), requestId, hash, fs });
    if (found.kind === "reused") throw reusedRequest(requestId);
    // The worker is still there: it ends what it has open, and only then that is durable.
    const isOpen = found.kind === "repeated" && found.settled === null;
    this.#mayBeTaken ||= isOpen;
    if (isStopping(state) && (isOpen || (found.kind !== "repeated" && this.#mayBeTaken))) return this.#changed(state);
    if (found.kind === "repeated") {
      const { actionId, cursor, settled } = found;
      return { actionId, status: kind === "steer" ? (settled?.steer ?? "queued") : "accepted", cursor };
    }
    throw found.kind === "unknown" && this.#mayBeTaken ? this.#late() : error;
  }

  /** Waits until the registration shows something else, or a moment passed. */
  async #changed(from: State | null): Promise<null> {
    await this.#services.context.registry.until(this.#sessionId, (state) => state !== from, 250);
    return null;
  }

  #late(): ProtocolError {
    if (this.#mayBeTaken)
      return new ProtocolError("timeout", `whether ${this.#sessionId} took the request is not known`, {
        hint: `repeat it with --request-id ${this.#order.requestId}`,
      });
    return new ProtocolError("worker_not_responding", `the worker of ${this.#sessionId} does not answer`, {
      hint: "send it again later, or `agent session stop` and `resume`",
    });
  }
}

/** Under a stop nothing is accepted; under passivation and replacement it waits for the worker that comes. */
const isStopping = (state: State | null): boolean =>
  state !== null && isEnding(state) && (state.intent.goal === "stop" || state.intent.goal === "archive");
