import { processesWith } from "../support/processes.ts";
import type { SessionProcesses } from "./home.ts";
import type { Round } from "./plan.ts";
import { sessionCount, endAll, runCases, recycle, type Run } from "./run.ts";

/** A multiplexer is not ended by a stop without force; the second one keeps the session's marker among the living. */
const LEAVES = [
  'cp "$(command -v sleep)" tmux',
  "setsid ./tmux 600 > /dev/null 2>&1 &",
  "setsid ./tmux 601 > /dev/null 2>&1 &",
].join("\n");

/** Rounds with stopped sessions whose journals name a process that a stop has left, and whose number is another's now. */
export async function runLeftover(run: Run, rounds: readonly Round[]): Promise<void> {
  const { home } = run;
  for (const round of rounds) {
    home.clear();
    const sessions = await home.newSessions(sessionCount(round), { busy: false });
    const left = await Promise.all(sessions.map(async (session) => await leave(run, session)));
    const prepared = await recycle(run, ["agent"], { round, sessions: left });
    await runCases(run, prepared);
    const newcomers = prepared.flatMap((part) => part.newcomers);
    await home.endOthers(newcomers.map(({ number }) => number));
    await endAll(newcomers);
  }
}

/** The session as its stop left it, with the process that was left and has ended since in the place of its agent. */
async function leave({ home }: Run, session: SessionProcesses): Promise<SessionProcesses> {
  await home.ok("prompt", session.sessionId, LEAVES);
  await home.ok("stop", session.sessionId);
  const [left] = processesWith(session.marker).filter(({ command }) => command === "./tmux 600");
  if (!left) throw new Error("nothing was left");
  await home.kill(left);
  return { ...session, agent: left };
}
