import type { MethodName, MethodParams, MethodResults, Peer, SessionDetails } from "@holdfast/client/protocol";
import { treeUsage } from "@holdfast/shared-process";
import { optionsOf } from "../rows.ts";
import { treeOf } from "../tree.ts";
import { attach } from "./attach.ts";
import type { Creations } from "./create.ts";
import { daemonStatus, stopDaemon } from "./daemon.ts";
import type { Services } from "./services.ts";
import { cancel } from "./cancel.ts";
import { deleteSession } from "./delete.ts";
import { passivate } from "./passivate.ts";
import { rename, setOptions, unarchive } from "./record-verbs.ts";
import { repair } from "./repair.ts";
import { resume, retry } from "./resume.ts";
import { stop } from "./stop.ts";
import { submit } from "./submit.ts";
import { addTrust, removeTrust } from "./trust.ts";
import { wait } from "./wait.ts";

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
  "session/list": ({ services }, params) => services.sessions.page(params),
  "session/show": ({ services }, { session }) => show(services, session),
  "session/prompt": ({ services }, params) => submit(services, "prompt", params),
  "session/steer": ({ services }, params) => submit(services, "steer", params),
  "session/follow_up": ({ services }, params) => submit(services, "follow_up", params),
  "session/cancel": ({ services }, params) => cancel(services, params),
  "session/attach": ({ services, peer }, params) => attach(services, peer, params),
  "session/stop": ({ services }, params) => stop(services, params),
  "session/tree": ({ services }, { session }) => tree(services, session),
  "session/wait": ({ services, peer }, params) => wait(services, peer, params),
  "session/unarchive": ({ services }, params) => unarchive(services, params),
  "session/retry": ({ services }, params) => retry(services, params),
  "session/passivate": ({ services }, params) => passivate(services, params),
  "session/rename": ({ services }, params) => rename(services, params),
  "session/set": ({ services }, params) => setOptions(services, params),
  "session/delete": ({ services }, params) => deleteSession(services, params),
  "daemon/status": ({ services }) => daemonStatus(services),
  "daemon/stop": ({ services }, params) => stopDaemon(services, params),
  "trust/add": ({ services }, params) => addTrust(services, params),
  "trust/remove": ({ services }, params) => removeTrust(services, params),
  "doctor/repair": ({ services }, params) => repair(services, params),
};

function tree({ sessions }: Services, selector: string | undefined): MethodResults["session/tree"] {
  return { sessions: treeOf(sessions.rows(), selector === undefined ? null : sessions.select(selector)) };
}

function show({ sessions, context }: Services, selector: string): SessionDetails {
  const row = sessions.row(sessions.select(selector));
  return {
    ...row,
    memoryBytes: row.pid === null ? null : (treeUsage(row.pid)?.rssBytes ?? null),
    options: optionsOf(context.catalog.get(row.sessionId)),
    usage: null,
    inDoubt: [],
    origin: { agent: row.agent, agentSessionId: null, restoredBy: "fresh" },
  };
}
