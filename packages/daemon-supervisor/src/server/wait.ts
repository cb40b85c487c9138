import { meets } from "@holdfast/client/protocol";
import type { MethodParams, MethodResults, Peer, WaitAnswer } from "@holdfast/client/protocol";
import { sessionDirectory, transcriptPath } from "@holdfast/session-worker/transport";
import { transcriptEnd } from "../last-turn.ts";
import type { Services } from "./services.ts";

/** The longest one request waits; clients ask again for as long as they want. */
const MAX_WAIT_MS = 30_000;

/** Answers at once where the sessions are as asked, else with the first change that makes them so, or when the time is over. */
export async function wait(
  services: Services,
  peer: Peer,
  { sessions: selectors, for: condition, any = false, timeoutMs }: MethodParams<"session/wait">,
): Promise<MethodResults["session/wait"]> {
  const { context, sessions, changes } = services;
  const sessionIds = selectors.map((selector) => sessions.select(selector));
  const isMet = (sessionId: string): boolean => {
    const isKnown = context.catalog.summary(sessionId) ?? context.catalog.quarantined.has(sessionId);
    // Deleted meanwhile: selecting it says that it is not there.
    return meets(sessions.row(isKnown ? sessionId : sessions.select(sessionId)), condition);
  };
  const met = (): readonly boolean[] => sessionIds.map(isMet);
  const isOver = (): boolean => peer.closed || (any ? met().includes(true) : !met().includes(false));
  const deadline = context.clock.monotonic() + Math.min(timeoutMs, MAX_WAIT_MS);
  while (!isOver() && context.clock.monotonic() < deadline)
    await changes.next(sessionIds, deadline - context.clock.monotonic());
  const matched = met();
  return { sessions: sessionIds.map((sessionId, index) => answerOf(services, sessionId, matched[index] ?? false)) };
}

function answerOf({ context, sessions }: Services, sessionId: string, matched: boolean): WaitAnswer {
  const { home, fs } = context;
  const path = transcriptPath(sessionDirectory(home, sessionId));
  const { waitingFor } = sessions.row(sessionId);
  return {
    sessionId,
    matched,
    ...(waitingFor ? { waitingFor } : {}),
    ...transcriptEnd(fs, path),
  };
}
