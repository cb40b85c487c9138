import type { SessionProcesses } from "./home.ts";
import type { Newcomer } from "./newcomer.ts";
import type { Round } from "./plan.ts";
import { endAll, runCases, recycle, type Run } from "./run.ts";

/** Rounds in a home of so many sessions of which neither the daemon nor a worker nor an agent lives. */
export async function runDead(run: Run, rounds: readonly Round[], size: number): Promise<void> {
  const { home } = run;
  const sessions = await home.newSessions(size);
  const daemon = home.daemon();
  // A worker with work in progress would start another daemon.
  for (const { worker } of sessions) await home.freeze(worker);
  await home.kill(daemon, ...sessions.map(({ worker }) => worker));
  await home.killAgents(sessions);
  home.save();
  for (const round of rounds) {
    await home.endOthers([]);
    home.restore();
    const prepared = await recycle(run, ["worker", "agent"], { round, sessions, daemon });
    for (const { planned, newcomers } of prepared)
      if (planned.disguise === "same tick") backdate(run, sessions, newcomers);
    await runCases(run, prepared);
    await endAll(prepared.flatMap(({ newcomers }) => newcomers));
  }
  await home.endOthers([]);
}

/** The records say that the newcomers began in the tick that those began in whose numbers they have. */
function backdate({ home }: Run, sessions: readonly SessionProcesses[], newcomers: readonly Newcomer[]): void {
  for (const { role, number, startTicks } of newcomers) {
    if (role === "supervisor") home.recordTicks(home.ownerPath() ?? "", startTicks);
    const session = sessions.find(({ worker }) => worker.pid === number);
    if (session) home.recordTicks(home.descriptorPath(session.sessionId), startTicks);
  }
}
