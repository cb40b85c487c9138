import { psOffline } from "./ps.ts";

export interface ForceStopPlan {
  readonly daemon: { readonly pid: number; readonly startId: string } | null;
  readonly workers: readonly {
    readonly sessionId: string;
    readonly name: string | null;
    readonly pid: number;
    readonly verdict: string;
  }[];
}

/** What would be stopped. Touches nothing. */
export async function planForceStop(home: string): Promise<ForceStopPlan> {
  const { daemons, workers } = await psOffline(home);
  const [daemon] = daemons;
  return {
    daemon: daemon ? { pid: daemon.pid, startId: daemon.startId } : null,
    workers: workers
      .filter(({ verdict }) => verdict === "current" || verdict === "unknown")
      .map(({ sessionId, name, pid, verdict }) => ({ sessionId, name, pid, verdict })),
  };
}
