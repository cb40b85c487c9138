import { readFileSync } from "node:fs";
import { type Identity, identityOf, signal } from "../support/processes.ts";
import { pause, waitFor } from "../support/wait-for.ts";
import type { SessionProcesses } from "./home.ts";
import { Newcomer } from "./newcomer.ts";
import type { Case, Round } from "./plan.ts";
import { sessionCount, endAll, runCases, type Run } from "./run.ts";

/** Longer than until a signal is due: SIGTERM of a silent worker after 2 s, SIGKILL by force after 1.5 s (CLI.md §6). */
const STOP_DUE_MS = 2_300;
const FORCED_DUE_MS = 1_700;

/**
 * Ends of frozen workers, and of a frozen daemon, that have begun: whoever is to send the next signal is frozen itself
 * while the one whom it is for ends and another gets its number. When it goes on, its timer fires before anything else
 * can be noticed.
 */
export async function runMidway(run: Run, round: Round): Promise<void> {
  const { home } = run;
  const sessions = await home.newSessions(sessionCount(round), { busy: false });
  await home.adoptAll();
  const stops = round.cases.filter(({ row }) => row.args.includes("S"));
  const newcomers = await duringStops(run, stops, sessions);
  const kept = sessions.at(-1);
  for (const planned of round.cases.filter((other) => !stops.includes(other)))
    if (kept) newcomers.push(...(await duringForceStop(run, planned, kept)));
  await home.endOthers(newcomers.map(({ number }) => number));
  await endAll(newcomers);
}

/**
 * The daemon is the one that signals. One stop after another, so that it is frozen long before its first signal is due, and not
 * between the last look of a signal and the signal itself: without the library that is the window that is left.
 */
async function duringStops(
  run: Run,
  stops: readonly Case[],
  sessions: readonly SessionProcesses[],
): Promise<Newcomer[]> {
  const { home } = run;
  const daemon = home.daemon();
  const taken: Newcomer[] = [];
  for (const [index, planned] of stops.entries()) {
    const session = sessions[index];
    if (!session) throw new Error("there is a session for each stop");
    const { sessionId } = session;
    const newcomers: Newcomer[] = [];
    await home.freeze(session.worker);
    await runCases(run, [{ planned, sessionId, newcomers }], async () => {
      await waitFor(() => home.descriptor(sessionId).stop, "the stop has begun");
      await home.freeze(daemon);
      newcomers.push(...(await replaced(run, session)));
      await pause(STOP_DUE_MS);
      signal(daemon, "SIGCONT");
    });
    taken.push(...newcomers);
  }
  return taken;
}

/** The command itself signals: the frozen daemon first, then the frozen worker. */
async function duringForceStop(run: Run, planned: Case, session: SessionProcesses): Promise<Newcomer[]> {
  const { home } = run;
  const daemon = home.daemon();
  await home.freeze(session.worker);
  await home.freeze(daemon);
  const newcomers: Newcomer[] = [];
  await runCases(run, [{ planned, sessionId: session.sessionId, newcomers }], async ([running]) => {
    const command = identityOf(running?.pid ?? 0);
    if (!command) throw new Error("the command has ended");
    await waitFor(() => hasPendingTerm(daemon), "the daemon was sent SIGTERM");
    await home.freeze(command);
    await home.kill(daemon);
    const { disguise } = planned;
    newcomers.push(...(await Newcomer.take(run.surroundings, { number: daemon.pid, role: "supervisor", disguise })));
    await pause(FORCED_DUE_MS);
    signal(command, "SIGCONT");
    await waitFor(() => home.descriptor(session.sessionId).stop, "the stop of its session has begun");
    await home.freeze(command);
    newcomers.push(...(await replaced(run, session)));
    await pause(FORCED_DUE_MS);
    signal(command, "SIGCONT");
  });
  return newcomers;
}

async function replaced({ home, surroundings }: Run, { worker, marker }: SessionProcesses): Promise<Newcomer[]> {
  await home.kill(worker);
  return await Newcomer.take(surroundings, { number: worker.pid, role: "worker", disguise: "stranger", marker });
}

const TERM_BIT = 1n << 14n;

/** A frozen process keeps it until it goes on. */
function hasPendingTerm({ pid }: Identity): boolean {
  const mask = /^ShdPnd:\t([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (BigInt(`0x${mask ?? "0"}`) & TERM_BIT) !== 0n;
}
