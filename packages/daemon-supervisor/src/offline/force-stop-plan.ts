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
      // A stop whose process is gone but whose clean-up is not done is finished too.
      .filter(({ verdict, state }) => verdict === "current" || verdict === "unknown" || state === "stopping")
      .map(({ sessionId, name, pid, verdict }) => ({ sessionId, name, pid, verdict })),
  };
}
