import { ProtocolError, WORKER_STILL_STOPPING_MS } from "@holdfast/client/protocol";
import type { SessionRow } from "@holdfast/client/protocol";
import { isEnding } from "../lifecycle/reduce.ts";
import type { State } from "../lifecycle/state.ts";
import type { Registry } from "../registry.ts";
import type { Services } from "./services.ts";
import { unwritten } from "./unwritten.ts";

interface ReadyServices {
  readonly context: { readonly registry: Pick<Registry, "published" | "until" | "problem"> };
  readonly sessions: Pick<Services["sessions"], "row">;
  readonly channels: Pick<Services["channels"], "report">;
}

/** Longer than a worker's own start deadline. */
const READY_MS = 60_000;
const UNWRITTEN_MS = 10_000;

const isStopped = (state: State | null): boolean =>
  state !== null && isEnding(state) && state.intent.goal !== "replace";

const ends = (state: State | null): boolean => state !== null && isEnding(state);

/** Waits until an attach would work, or says why it will not. A stop under way may take ten seconds of it (I46). */
export async function untilReady(
  { context, sessions, channels }: ReadyServices,
  sessionId: string,
): Promise<SessionRow> {
  const { registry } = context;
  if (ends(registry.published(sessionId))) {
    const ended = await registry.until(sessionId, (state) => !ends(state), WORKER_STILL_STOPPING_MS);
    if (ended === "timeout")
      throw new ProtocolError("worker_still_stopping", "the old worker is still stopping; the new one follows it", {
        hint: "try again in a few seconds",
      });
  }
  const settled = (state: State | null): boolean =>
    state === null ||
    state.name === "failed" ||
    (state.name === "recovering" && state.cause !== null) ||
    isStopped(state) ||
    (state.name === "ready" && channels.report(sessionId) !== null);
  const state = await untilWritten(registry, sessionId, settled);
  if (state === "timeout")
    throw new ProtocolError(
      "worker_not_responding",
      `the worker of ${sessionId} does not become ready${whyNot(registry.published(sessionId))}`,
      { hint: `agent session show ${sessionId} tells how far it is` },
    );
  if (state?.name === "failed")
    throw new ProtocolError(state.code, state.reason, {
      hint: `agent session resume ${sessionId}`,
      data: { sessionId },
    });
  if (state?.name === "recovering" && state.cause)
    throw new ProtocolError(state.cause.code, `its worker cannot be started: ${state.cause.reason}`, {
      hint: "the session starts by itself once there are descriptors again",
      data: { sessionId },
    });
  if (state?.name !== "ready") throw new ProtocolError("session_stopping", "the session was stopped meanwhile");
  return sessions.row(sessionId);
}

const whyNot = (state: State | null): string =>
  state?.name === "recovering" && state.problem !== undefined ? `: ${state.problem}` : "";

/** A disk that takes no records is said after a while, not after a minute. */
async function untilWritten(
  registry: Pick<Registry, "until" | "problem">,
  sessionId: string,
  settled: (state: State | null) => boolean,
): Promise<State | null | "timeout"> {
  const first = await registry.until(sessionId, settled, UNWRITTEN_MS);
  if (first !== "timeout") return first;
  const problem = unwritten(registry, sessionId, "the launch");
  if (problem) throw problem;
  return await registry.until(sessionId, settled, READY_MS - UNWRITTEN_MS);
}
