import { ProtocolError } from "@holdfast/client/protocol";
import type { MethodParams, SessionRow } from "@holdfast/client/protocol";
import { isEnding } from "../lifecycle/reduce.ts";
import type { State } from "../lifecycle/state.ts";
import type { Services } from "./services.ts";
import { requestStop } from "./stop.ts";
import { goesOn } from "./unwritten.ts";

/** A passivation ends by the same finalizer as a stop. */
const PASSIVATE_MS = 15_000;

const busy = (why: string): ProtocolError =>
  new ProtocolError("session_busy", `the session is busy: ${why}`, { hint: "agent wait, then passivate" });

/** Releases an idle session's process; one that works keeps it, and says so. */
export function passivate(
  services: Services,
  { session, requestId }: MethodParams<"session/passivate">,
): Promise<SessionRow> {
  const { sessions, requests } = services;
  return requests.once({ method: "session/passivate", requestId, content: { session } }, async (stamp, repeated) => {
    const { sessionId } = repeated ?? sessions.actionable(session);
    const { registry } = services.context;
    const state = registry.newest(sessionId);
    if (!repeated && state !== null) {
      if (isEnding(state) && state.intent.goal !== "passivate") throw busy("it is stopping");
      requestStop(services, sessionId, { goal: "passivate", force: false }, stamp);
      // The answer is counted from the intent: `ready` before it is not the worker's refusal.
      if (!(await registry.drained({ sessionId }))) throw goesOn(registry, sessionId, "the passivation");
    }
    await registry.until(sessionId, (now) => now === null || !isEnding(now), PASSIVATE_MS);
    const over = registry.published(sessionId);
    const newest = registry.newest(sessionId);
    if (newest !== null && isEnding(newest)) throw goesOn(registry, sessionId, "the passivation");
    if (over !== null && over.name !== "passivated") throw refused(services, sessionId, over);
    return { answer: sessions.present(sessionId), final: true };
  });
}

function refused({ channels }: Services, sessionId: string, state: State): ProtocolError {
  if (state.name === "reconnecting")
    return new ProtocolError("worker_not_responding", "the worker does not answer; the session is left as it is", {
      hint: `agent session show ${sessionId}`,
    });
  return busy(channels.refusal(sessionId) ?? "it works");
}
