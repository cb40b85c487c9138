import {
  _default,
  boolean,
  enum as oneOf,
  int,
  literal,
  nullable,
  number,
  object,
  optional,
  record,
  string,
  union,
} from "zod/mini";
import type { infer as Infer } from "zod/mini";
import { identitySchema } from "@holdfast/client/protocol";

/**
 * The private protocol between supervisor and worker, JSON-RPC lines on the worker's own socket:
 *
 *     supervisor                               worker
 *     authenticate {token, epoch, …}   ──▶     checks token, remembers the highest epoch
 *                                      ◀──     WorkerHello {phase: "blank" | "serving"}
 *     worker/start {environment, …}    ──▶     opens journal and transcript, starts the agent
 *                                      ◀──     {phase: "serving"}
 *     session/prompt, steer, …         ──▶     admits durably, answers {actionId, status}
 *                                      ◀──     worker/activity, worker/closing (notifications)
 *     worker/stop {stopId, goal}       ──▶     acknowledges with its grace, ends, exits 0
 *
 * A connection of purpose `attach` asks `session/attach` once and then only receives events.
 */
export const WORKER_PROTOCOL_VERSION = 1;

/** Paths of the two programs, by which whoever starts a supervisor starts one like the last. */
export const programsSchema = object({ supervisor: string(), worker: string() });
export type Programs = Readonly<Infer<typeof programsSchema>>;

export const authenticateSchema = object({
  protocol: int(),
  token: string(),
  sessionId: string(),
  generation: string(),
  epoch: int(),
  supervisor: identitySchema,
  purpose: oneOf(["control", "attach"]),
  /** What the worker starts in its place should it die; those of the newest supervisor count. An older one names none. */
  programs: optional(programsSchema),
});
export type Authenticate = Infer<typeof authenticateSchema>;

/** What the supervisor shows of a worker without asking it; sent whole whenever it changes. */
export const reportSchema = object({
  activity: oneOf(["idle", "working", "needs_input"]),
  openOperations: int(),
  /** Milliseconds since the epoch. */
  lastActivityAt: number(),
  waitingFor: nullable(object({ kind: string(), id: string(), title: string(), since: string() })),
  /** Set when the journal or the transcript no longer takes records. */
  degraded: nullable(string()),
});
export type WorkerReport = Readonly<Infer<typeof reportSchema>>;

/** Answer to `authenticate`; `refused` is followed by the end of the connection. */
export const helloSchema = union([
  object({
    kind: literal("hello"),
    phase: oneOf(["blank", "serving"]),
    sessionId: string(),
    generation: string(),
    pid: int(),
    report: reportSchema,
  }),
  object({ kind: literal("refused"), why: oneOf(["token", "generation", "protocol"]) }),
  object({ kind: literal("refused"), why: literal("stale_epoch"), epoch: int() }),
]);
export type WorkerHello = Infer<typeof helloSchema>;

export const startSchema = object({
  /** The agent's whole environment but for the marker, which the worker adds. */
  environment: record(string(), string()),
  /** False for the first launch of a session, true when its transcript goes on. */
  restored: boolean(),
});
export type StartParams = Infer<typeof startSchema>;
export const startResultSchema = union([
  object({ kind: literal("serving"), report: reportSchema }),
  /** Terminal causes are not retried: directory missing, command not found, files damaged. */
  object({ kind: literal("failed"), terminal: boolean(), reason: string() }),
]);
export type StartResult = Infer<typeof startResultSchema>;

export const submitSchema = object({
  requestId: string(),
  /** SHA-256 (hex) over method and content: the same id with another hash is refused. */
  hash: string(),
  kind: oneOf(["prompt", "steer", "follow_up"]),
  text: string(),
  interrupt: optional(boolean()),
});
export type SubmitParams = Infer<typeof submitSchema>;
export const submitAnswerSchema = object({
  actionId: string(),
  status: oneOf(["accepted", "injected", "interrupted", "queued"]),
  cursor: string(),
});
export type SubmitAnswer = Infer<typeof submitAnswerSchema>;

/** A repeat of a cancel is the same cancel; a second one by its own id is stronger. */
export const cancelSchema = object({ requestId: string(), hash: string(), actionId: optional(string()) });
export type CancelParams = Infer<typeof cancelSchema>;
export const attachSchema = object({ from: optional(string()), follow: boolean() });

export const stopSchema = object({
  stopId: string(),
  goal: oneOf(["stop", "archive", "passivate", "replace"]),
  /** Passivation of a busy worker: turns are interrupted visibly, accepted actions stay queued. Also no grace for agents. */
  force: boolean(),
});
export type WorkerStopParams = Infer<typeof stopSchema>;
export const stopAnswerSchema = union([
  object({ kind: literal("acknowledged"), graceMs: number() }),
  object({ kind: literal("busy"), why: string() }),
]);
export type WorkerStopAnswer = Infer<typeof stopAnswerSchema>;

/** What the gate hands to the worker program, as one JSON line: a crash before it leaves no unknown process. */
export const workerOrdersSchema = object({
  protocol: int(),
  home: string(),
  sessionId: string(),
  generation: string(),
  token: string(),
  marker: string(),
  socketPath: string(),
  /** Of the worker and everything that it starts; `null` where none can be made. */
  cgroupPath: _default(nullable(string()), null),
  epoch: int(),
  supervisor: nullable(identitySchema),
});
export type WorkerOrders = Infer<typeof workerOrdersSchema>;

/** The worker ends by itself (its own reasons); the supervisor writes an intent and finalizes. */
export const closingSchema = object({ reason: string() });

/** Notifications of a control connection. `progress` comes each second while a stop runs. */
export interface WorkerNotifications {
  "worker/activity": WorkerReport;
  "worker/progress": { readonly stopId: string };
  "worker/closing": Infer<typeof closingSchema>;
}
