import { signal } from "../support/processes.ts";
import { waitFor } from "../support/wait-for.ts";
import type { SessionProcesses } from "./home.ts";
import type { Newcomer } from "./newcomer.ts";
import type { Round } from "./plan.ts";
import { sessionCount, endAll, runCases, recycle, type Run } from "./run.ts";

/** Rounds in homes whose daemon lives on; each has a home of its own. */
export async function runLive(run: Run, rounds: readonly Round[]): Promise<void> {
  for (const round of rounds) {
    const { home } = run;
    home.clear();
    const sessions = await home.newSessions(sessionCount(round));
    const planned =
      round.cases[0]?.situation === "the workers live"
        ? await underWorkers(run, round, sessions)
        : await underDaemon(run, round, sessions);
    await home.endOthers(planned.map(({ number }) => number));
    await endAll(planned);
  }
}

/** The agents end, their workers reap them, and others get their numbers. */
async function underWorkers(run: Run, round: Round, sessions: readonly SessionProcesses[]): Promise<Newcomer[]> {
  const { home } = run;
  await home.killAgents(sessions);
  // While low numbers are given out nobody else may take one; an agent that had a turn is replaced at once.
  const busy = sessions.filter(({ isBusy }) => isBusy);
  await waitFor(() => busy.every(({ marker }) => home.agentOf(marker)), "the agents that were busy are replaced");
  const prepared = await recycle(run, ["agent"], { round, sessions });
  await runCases(run, prepared);
  return prepared.flatMap(({ newcomers }) => newcomers);
}

/** The daemon sees nothing of it while its workers and their agents end and others get their numbers. */
async function underDaemon(run: Run, round: Round, sessions: readonly SessionProcesses[]): Promise<Newcomer[]> {
  const { home } = run;
  await home.adoptAll();
  const daemon = home.daemon();
  await home.freeze(daemon);
  await home.kill(...sessions.map(({ worker }) => worker));
  await home.killAgents(sessions);
  const prepared = await recycle(run, ["worker", "agent"], { round, sessions });
  await runCases(run, prepared, () => void signal(daemon, "SIGCONT"));
  return prepared.flatMap(({ newcomers }) => newcomers);
}
