import type { StopReason } from "./events.ts";

export const sessionStates = [
  "starting",
  "ready",
  "recovering",
  "stopping",
  "failed",
  "passivated",
  "quarantined",
  "stopped",
] as const;
export type SessionState = (typeof sessionStates)[number];
export type Activity = "idle" | "working" | "needs_input";

export interface WaitingFor {
  readonly kind: string;
  readonly id: string;
  readonly title: string;
  readonly since: string;
}

/** ROW of CLI.md §5: one session as every verb prints it. Times are RFC 3339. */
export interface SessionRow {
  readonly sessionId: string;
  readonly name: string | null;
  readonly agent: string;
  readonly cwd: string;
  readonly project: string;
  readonly lifecycle: "live" | "archived";
  readonly state: SessionState;
  readonly activity: Activity;
  readonly waitingFor?: WaitingFor;
  readonly pid: number | null;
  readonly generation: string | null;
  readonly createdAt: string;
  /** Where no daemon runs, of a session with a worker by its transcript's last change: a moment less. */
  readonly lastActivityAt: string;
  readonly parentId: string | null;
  readonly childCount: number;
  readonly openOperations: number;
  readonly memoryBytes: number | null;
  readonly reason: string | null;
}

/** A session with its children, theirs included. */
export interface SessionTree extends SessionRow {
  readonly children: readonly SessionTree[];
}

/**
 * What `wait` waits for. `idle`: nothing runs and nothing is queued, in a session that is ready, passivated or stopped. `stopped`: no
 * process and none wanted, archived sessions included.
 */
export const waitConditions = ["idle", "needs_input", "stopped", "failed"] as const;
export type WaitCondition = (typeof waitConditions)[number];

export interface WaitAnswer {
  readonly sessionId: string;
  /** False: the time was over first. */
  readonly matched: boolean;
  readonly waitingFor?: WaitingFor;
  readonly lastTurn?: { readonly stopReason: StopReason; readonly exitCode?: number };
  /** The transcript's end when it was looked at. */
  readonly cursor: string;
}

export interface InDoubt {
  readonly operationId: string;
  readonly kind: string;
  readonly title: string;
  readonly since: string;
}

export interface SessionDetails extends SessionRow {
  readonly options: readonly { id: string; value: unknown; choices: readonly unknown[]; applied: boolean }[];
  readonly usage: Record<string, unknown> | null;
  readonly inDoubt: readonly InDoubt[];
  readonly origin: { readonly agent: string; readonly agentSessionId: string | null; readonly restoredBy: RestoredBy };
}
export type RestoredBy = "resume" | "load" | "transcript" | "fresh";

export interface DaemonStatus {
  readonly home: string;
  readonly pid: number;
  readonly startId: string;
  readonly epoch: number;
  readonly version: string;
  readonly status: "current" | "stale" | "busy" | "unreachable" | "orphan-file" | "ownership-lost";
  readonly socketPath: string;
  readonly sessions: Partial<Record<SessionState, number>>;
  readonly counters: Record<string, number>;
}

/** How a trusted directory is found: `replaced` is anything else than the directory that was trusted. */
export const trustStates = ["trusted", "replaced", "missing", "unreadable"] as const;
export type TrustState = (typeof trustStates)[number];

/** One directory that somebody trusted. */
export interface TrustRow {
  readonly directory: string;
  readonly addedAt: string;
  readonly state: TrustState;
  /** What it was asked for as, where that was another spelling. */
  readonly via?: string;
}
