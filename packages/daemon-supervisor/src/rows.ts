import { reasonOf as whyOf } from "@holdfast/shared-process";
import type { SessionDetails, SessionRow, SessionState } from "@holdfast/client/protocol";
import type { SessionRecord, WorkerReport } from "@holdfast/session-worker/transport";
import type { Millis, State } from "./lifecycle/state.ts";
import { DEGRADED_MS } from "./lifecycle/times.ts";
import type { SessionSummary } from "./session-index/row.ts";

/** What clients see of a state (DESIGN §3.1): an intent shows as stopping, a worker without a channel as recovering (I25). */
export function visibleState(state: State, connected: boolean): SessionState {
  switch (state.name) {
    case "launching":
    case "starting":
      return "starting";
    case "ready":
      return connected ? "ready" : "recovering";
    case "reconnecting":
    case "recovering":
      return "recovering";
    case "stopping":
    case "finalizing":
      return "stopping";
    case "failed":
    case "passivated":
      return state.name;
  }
}

/**
 * It serves, or will again: what goes to all sessions goes to these, and a list of them is what one session may know of others. One
 * that is stopping stays in every other list and is not one of these (DESIGN §3.1, I39, I40).
 */
export const isLive = (state: SessionState): boolean =>
  state === "ready" || state === "starting" || state === "recovering";

/** The state of a session without a registration. `running`: a boot has not decided yet, or no daemon runs. */
const restingState: Record<SessionRecord["wanted"], SessionState> = {
  running: "recovering",
  passive: "passivated",
  stopped: "stopped",
  archived: "stopped",
};

export interface RowParts {
  readonly record: SessionSummary;
  readonly state: State | null;
  readonly report: WorkerReport | null;
  readonly quarantine: string | null;
  /** Of a clock that counts from boot; needed where there is a state. */
  readonly now?: Millis;
  /** Why its records cannot be written. */
  readonly problem?: unknown;
  /** Why its worker, which may live, can be neither reached nor told to be gone. */
  readonly unreached?: string | null;
}

export function rowOf(parts: RowParts): SessionRow {
  const { record, state, report, quarantine, now = 0, problem = null, unreached = null } = parts;
  const process = state && "process" in state ? state.process : null;
  const visible = state ? visibleState(state, report !== null) : restingState[record.wanted];
  const hasProcess = process !== null && visible !== "failed" && state?.name !== "recovering";
  return {
    sessionId: record.sessionId,
    name: record.name,
    agent: record.agent,
    cwd: record.cwd,
    project: record.project,
    lifecycle: record.wanted === "archived" && !state ? "archived" : "live",
    state: quarantine === null ? visible : "quarantined",
    activity: report?.activity ?? "idle",
    ...(report?.waitingFor ? { waitingFor: report.waitingFor } : {}),
    pid: hasProcess ? process.identity.pid : null,
    generation: hasProcess ? process.generation : null,
    createdAt: record.createdAt,
    lastActivityAt: report ? new Date(report.lastActivityAt).toISOString() : record.lastActivityAt,
    parentId: record.parentId,
    childCount: 0,
    openOperations: report?.openOperations ?? 0,
    memoryBytes: null,
    reason:
      quarantine ??
      unwrittenReason(problem) ??
      (state && endingReason(state, now)) ??
      unreached ??
      reasonOf(record, state, report),
  };
}

/** How the reason of a session begins whose records are tried to be written again. */
export const UNWRITTEN = "its records cannot be written: ";

const unwrittenReason = (problem: unknown): string | null =>
  problem === null ? null : `${UNWRITTEN}${whyOf(problem)}`;

/** Why an end takes long, once it does. */
function endingReason(state: State, now: Millis): string | null {
  if (state.name !== "stopping" && state.name !== "finalizing") return null;
  const problem = state.name === "finalizing" ? state.problem : null;
  const degraded = now - state.since >= DEGRADED_MS ? "degraded: its end takes longer than 10 minutes" : null;
  return [degraded, problem].filter((part) => part !== null).join("; ") || null;
}

function reasonOf(record: SessionSummary, state: State | null, report: WorkerReport | null): string | null {
  if (state?.name === "failed") return state.reason;
  if (state?.name === "recovering" && state.cause) return state.cause.reason;
  if (state?.name === "recovering")
    return state.phase === "waiting"
      ? "waiting to relaunch"
      : `its worker ended; settling${state.problem === undefined ? "" : `: ${state.problem}`}`;
  return report?.degraded ?? record.lastError;
}

/** The row of a session whose record cannot be read: it shows its own error and breaks nothing else (I142). */
export function damagedRow(sessionId: string, reason: string): SessionRow {
  return {
    sessionId,
    name: null,
    agent: "unknown",
    cwd: "",
    project: "",
    lifecycle: "live",
    state: "quarantined",
    activity: "idle",
    pid: null,
    generation: null,
    createdAt: new Date(0).toISOString(),
    lastActivityAt: new Date(0).toISOString(),
    parentId: null,
    childCount: 0,
    openOperations: 0,
    memoryBytes: null,
    reason,
  };
}

/** Options as they were set. The built-in agents have none of their own, so none is applied. */
export const optionsOf = (record: SessionRecord | undefined): SessionDetails["options"] =>
  Object.entries(record?.options ?? {}).map(([id, value]) => ({ id, value, choices: [], applied: false }));
