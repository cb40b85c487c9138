import { ConnectionLost, ProtocolError } from "@holdfast/client/protocol";
import type {
  MethodName,
  MethodParams,
  MethodResults,
  Peer,
  SessionDetails,
  SessionRow,
} from "@holdfast/client/protocol";
import { treeUsage } from "@holdfast/shared-process";
import { pageOf } from "../page.ts";
import { attach } from "./attach.ts";
import type { Creations } from "./create.ts";
import { daemonStatus, stopDaemon } from "./daemon.ts";
import type { Services } from "./services.ts";
import { resume, stop } from "./stop.ts";
import { WORKER_SILENT_MS, submit } from "./submit.ts";

export interface Call {
  readonly services: Services;
  readonly creations: Creations;
  readonly peer: Peer;
}

type Handlers = {
  readonly [M in MethodName]: (call: Call, params: MethodParams<M>) => MethodResults[M] | Promise<MethodResults[M]>;
};

export const handlers: Handlers = {
  "session/new": ({ creations }, params) => creations.create(params),
  "session/resume": ({ services }, params) => resume(services, params),
  "session/list": ({ services }, params) => pageOf(services.sessions.rows(), params),
  "session/show": ({ services }, { session }) => show(services, session),
  "session/prompt": ({ services }, params) => submit(services, "prompt", params),
  "session/steer": ({ services }, params) => submit(services, "steer", params),
  "session/follow_up": ({ services }, params) => submit(services, "follow_up", params),
  "session/cancel": ({ services }, params) => cancel(services, params),
  "session/attach": ({ services, peer }, params) => attach(services, peer, params),
  "session/stop": ({ services }, params) => stop(services, params),
  "daemon/status": ({ services }) => daemonStatus(services),
  "daemon/stop": ({ services }, params) => stopDaemon(services, params),
};

function show({ sessions }: Services, selector: string): SessionDetails {
  const row = sessions.row(sessions.select(selector));
  return {
    ...row,
    memoryBytes: row.pid === null ? null : (treeUsage(row.pid)?.rssBytes ?? null),
    options: [],
    usage: null,
    inDoubt: [],
    origin: { agent: row.agent, agentSessionId: null, restoredBy: "fresh" },
  };
}

/** Ends the running turn. Without a worker there is none, and that is no error. */
async function cancel(
  { sessions, channels }: Services,
  { session, requestId, actionId }: MethodParams<"session/cancel">,
): Promise<SessionRow> {
  const { sessionId } = sessions.actionable(session);
  try {
    await channels
      .peer(sessionId)
      ?.request("session/cancel", actionId === undefined ? { requestId } : { requestId, actionId }, {
        signal: AbortSignal.timeout(WORKER_SILENT_MS),
      });
  } catch (error) {
    if (!(error instanceof ConnectionLost || error instanceof DOMException)) throw error;
    throw new ProtocolError("worker_not_responding", "the worker did not answer", {
      hint: "`agent session show` tells more; `agent session stop` ends it for certain",
    });
  }
  return sessions.row(sessionId);
}
