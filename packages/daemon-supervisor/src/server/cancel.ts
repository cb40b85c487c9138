import { ConnectionLost, ProtocolError } from "@holdfast/client/protocol";
import type { MethodParams, SessionRow } from "@holdfast/client/protocol";
import { requestHash } from "@holdfast/session-worker/transport";
import { abortAfter } from "../effects/abort-after.ts";
import type { Services } from "./services.ts";
import { WORKER_SILENT_MS } from "./submit.ts";

/** Ends the running turn. Without a worker that serves there is none, and that is no error. */
export function cancel(
  services: Services,
  { session, requestId, actionId }: MethodParams<"session/cancel">,
): Promise<SessionRow> {
  const { context, sessions, channels, requests } = services;
  const content = { session, ...(actionId === undefined ? {} : { actionId }) };
  return requests.once({ method: "session/cancel", requestId, content }, async () => {
    const { sessionId } = sessions.actionable(session);
    const serving = context.registry.published(sessionId)?.name === "ready";
    const order = { requestId, hash: requestHash("session/cancel", { sessionId, actionId }) };
    const { signal, timer } = abortAfter(context.clock, WORKER_SILENT_MS);
    try {
      const peer = serving ? channels.peer(sessionId) : null;
      if (serving && !peer) throw new ConnectionLost("its channel has just closed");
      // The worker remembers the request beside its effect, so that a repeat over any crash ends no later turn (I143).
      await peer?.request("session/cancel", actionId === undefined ? order : { ...order, actionId }, { signal });
    } catch (error) {
      if (error instanceof DOMException)
        throw new ProtocolError("timeout", "the worker did not answer; whether it took the cancel is not known", {
          hint: `repeat it with --request-id ${requestId}`,
        });
      if (!(error instanceof ConnectionLost)) throw error;
      throw new ProtocolError("worker_not_responding", "the worker was lost before it answered", {
        hint: "`agent session show` tells more; `agent session stop` ends it for certain",
      });
    } finally {
      timer[Symbol.dispose]();
    }
    return { answer: sessions.present(sessionId), final: true };
  });
}
