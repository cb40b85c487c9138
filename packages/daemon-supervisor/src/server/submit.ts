import { ConnectionLost, MAX_QUEUED_TEXT_BYTES, ProtocolError } from "@holdfast/client/protocol";
import type { ActionKind, MethodParams, SubmitResult } from "@holdfast/client/protocol";
import { checkText, requestHash, submitAnswerSchema } from "@holdfast/session-worker/transport";
import type { SessionStore } from "@holdfast/session-worker/transport";
import { abortAfter } from "../effects/abort-after.ts";
import type { State } from "../lifecycle/state.ts";
import { reusedRequest } from "./requests.ts";
import type { Services } from "./services.ts";
import { wake } from "./wake.ts";

/** A silent worker: after this the request is given up (CLI.md §3). */
export const WORKER_SILENT_MS = 30_000;

/** Under a stop nothing is accepted; under passivation and replacement it waits for the worker that comes. */
function refuseStopping(state: State | null, sessionId: string): void {
  if (state?.name !== "stopping" && state?.name !== "finalizing") return;
  if (state.intent.goal === "stop" || state.intent.goal === "archive")
    throw new ProtocolError("session_stopping", "the session is stopping", {
      hint: `agent session resume ${sessionId}`,
    });
}

/** Admits a prompt, steer or follow-up exactly once: into the live worker, or into the journal of a session between workers. */
export async function submit(
  services: Services,
  kind: ActionKind,
  params: MethodParams<"session/prompt">,
): Promise<SubmitResult> {
  const { requestId, text, interrupt } = params;
  if (Buffer.byteLength(text) > MAX_QUEUED_TEXT_BYTES)
    throw new ProtocolError("usage", `a prompt takes at most ${MAX_QUEUED_TEXT_BYTES} bytes`);
  const { sessionId } = services.sessions.actionable(params.session);
  // An id that another verb has used is refused here; those of prompts are known to the session itself.
  const { requests, context } = services;
  if (context.catalog.createdBy(requestId) || (await requests.isUsed(requestId))) throw reusedRequest(requestId);
  const hash = requestHash(kind, { sessionId, text, ...(interrupt ? { interrupt } : {}) });
  const order = { requestId, hash, kind, text, ...(interrupt ? { interrupt } : {}) };
  const deadline = services.context.clock.monotonic() + WORKER_SILENT_MS;
  for (;;) {
    const answer = await attempt(services, sessionId, order);
    if (answer) return { ...answer, requestId };
    if (services.context.clock.monotonic() > deadline)
      throw new ProtocolError("worker_not_responding", `the worker of ${sessionId} does not answer`, {
        hint: "send it again later, or `agent session stop` and `resume`",
      });
  }
}

type Order = { requestId: string; hash: string; kind: ActionKind; text: string; interrupt?: boolean };
type Answer = Omit<SubmitResult, "requestId">;

async function attempt(services: Services, sessionId: string, order: Order): Promise<Answer | null> {
  const { registry } = services.context;
  const state = registry.published(sessionId);
  const method = order.kind === "follow_up" ? "session/follow_up" : `session/${order.kind}`;
  refuseStopping(state, sessionId);
  if (state?.name === "failed")
    throw new ProtocolError(state.code, `the session has failed: ${state.reason}`, {
      hint: `agent session resume ${sessionId}`,
    });
  if (state === null || state.name === "passivated") {
    wake(services, sessionId);
    return changed(services, sessionId, state);
  }
  const peer = state.name === "ready" ? services.channels.peer(sessionId) : null;
  if (peer) {
    const { signal, timer } = abortAfter(services.context.clock, WORKER_SILENT_MS);
    try {
      return submitAnswerSchema.parse(await peer.request(method, order, { signal }));
    } catch (error) {
      // The same request under the same id, sent to whatever comes next, is admitted once at most.
      if (error instanceof ConnectionLost) return changed(services, sessionId, state);
      if (error instanceof DOMException)
        throw new ProtocolError("timeout", "the worker did not answer; whether it took the request is not known", {
          hint: `repeat it with --request-id ${order.requestId}`,
        });
      throw error;
    } finally {
      timer[Symbol.dispose]();
    }
  }
  const store = state.name === "recovering" ? services.stores.current(sessionId) : null;
  return store ? admit(services, sessionId, { store, order }) : changed(services, sessionId, state);
}

async function admit(
  services: Services,
  sessionId: string,
  { store, order }: { store: SessionStore; order: Order },
): Promise<Answer | null> {
  return services.stores.inLane(sessionId, async () => {
    if (services.stores.current(sessionId) !== store) return null;
    checkText(order.text, store.actions());
    const admitted = await store.admit(order);
    if (admitted.kind === "reused") throw reusedRequest(order.requestId);
    const status = order.kind === "steer" ? "queued" : "accepted";
    if (admitted.kind === "repeated") return { actionId: admitted.actionId, status, cursor: admitted.cursor };
    return { actionId: admitted.action.actionId, status, cursor: admitted.cursor };
  });
}

/** Waits until the registration shows something else, or a moment passed. */
async function changed(services: Services, sessionId: string, from: State | null): Promise<null> {
  await services.context.registry.until(sessionId, (state) => state !== from, 250);
  return null;
}
