import type { Running } from "../support/command.ts";
import type { Identity } from "../support/processes.ts";
import { waitFor } from "../support/wait-for.ts";
import { bundlesOf } from "../support/without-library.ts";
import { type SessionProcesses, LoneHome } from "./home.ts";
import { Newcomer, type Surroundings } from "./newcomer.ts";
import { type Case, type Outcome, type Round, titleOf } from "./plan.ts";

/** What all that is done in one home needs. */
export interface Run {
  readonly home: LoneHome;
  readonly surroundings: Surroundings;
  readonly tell: (outcome: Outcome) => void;
}

export interface RunOptions {
  /** The program `agent`. */
  readonly agent: string;
  readonly root: string;
  readonly fixtures: string;
  readonly tell: (outcome: Outcome) => void;
}

export function runAt({ agent, root, fixtures, tell }: RunOptions): Run {
  const home = new LoneHome(agent, root);
  return { home, surroundings: { fixtures, bundles: bundlesOf(agent), logs: root, home: home.path }, tell };
}

/** One case, the session that it is about, and those who have numbers now that it may take for ours. */
export interface Prepared {
  readonly planned: Case;
  readonly sessionId: string;
  readonly newcomers: readonly Newcomer[];
}

const hasOwn = ({ row }: Case): boolean => row.shares !== true && row.args.includes("S");

/** How many sessions `assign` needs: one for those that share it, and one for each of the others. */
export const sessionCount = ({ cases }: Round): number => {
  const own = cases.filter(hasOwn).length;
  return own + (own < cases.length ? 1 : 0);
};

/** Which sessions a case is about. One that is alone is about all. */
function assign({ cases }: Round, sessions: readonly SessionProcesses[]): Map<Case, readonly SessionProcesses[]> {
  const own = cases.filter(hasOwn);
  return new Map(
    cases.map((planned) => {
      const at = own.indexOf(planned);
      // Behind those with a session of their own comes the shared one.
      const index = at < 0 ? own.length : at;
      return [planned, cases.length === 1 ? sessions : sessions.slice(index, index + 1)];
    }),
  );
}

interface Recycled {
  readonly round: Round;
  readonly sessions: readonly SessionProcesses[];
  /** If it has ended too. */
  readonly daemon?: Identity;
}

/** Gives the numbers of the round's sessions to others, all at once. A session that several cases share is recycled once. */
export async function recycle(
  { surroundings }: Run,
  roles: readonly ("worker" | "agent")[],
  { round, sessions, daemon }: Recycled,
): Promise<Prepared[]> {
  const assigned = assign(round, sessions);
  const disguises = new Map(
    [...assigned].flatMap(([{ disguise }, own]) => own.map((session) => [session, disguise] as const)),
  );
  const ofSessions = [...disguises].flatMap(([session, disguise]) =>
    roles.map((role) => ({ number: session[role].pid, role, disguise, marker: session.marker })),
  );
  const ofDaemon = daemon ? [{ number: daemon.pid, role: "supervisor", disguise: round.supervisor } as const] : [];
  const newcomers = await Newcomer.take(surroundings, ...ofDaemon, ...ofSessions);
  return [...assigned].map(([planned, own]) => {
    const numbers = new Set([daemon?.pid, ...own.flatMap(({ worker, agent }) => [worker.pid, agent.pid])]);
    const concerned = newcomers.filter(({ number }) => numbers.has(number));
    return { planned, sessionId: own[0]?.sessionId ?? "", newcomers: concerned };
  });
}

/** Runs the cases side by side and tells what came of each; `meanwhile` begins when all have been started. */
export async function runCases(
  { home, tell }: Run,
  prepared: readonly Prepared[],
  meanwhile: (started: readonly Running[]) => Promise<void> | void = () => {},
): Promise<void> {
  const started = prepared.map(({ planned, sessionId }) => home.start(argumentsOf(planned, sessionId)));
  await meanwhile(started);
  const results = await Promise.all(
    started.map(async (running, index) => {
      if (prepared[index]?.planned.row.serves) await endOnceItServes(home, running);
      // One that hangs is that case's failure alone.
      return await running.result().catch((error: unknown) => ({ code: null, stdout: "", stderr: String(error) }));
    }),
  );
  await home.settled();
  for (const [index, { planned, newcomers }] of prepared.entries()) {
    const touched = await Promise.all(newcomers.map(async (newcomer) => await newcomer.touched()));
    const { code = null, stdout = "", stderr = "" } = results[index] ?? {};
    const numbers = newcomers.map(({ number }) => number);
    tell({ title: titleOf(planned), code, stdout, stderr, numbers, touched: touched.flat() });
  }
}

const argumentsOf = ({ row }: Case, sessionId: string): string[] => [
  ...row.verb.split(" "),
  ...row.args.map((text) => (text === "S" ? sessionId : text)),
];

async function endOnceItServes(home: LoneHome, running: Running): Promise<void> {
  const serves = (): boolean => home.owner()?.identity.pid === running.pid && home.owner()?.phase === "serving";
  await waitFor(serves, "the daemon in the foreground serves");
  await home.settled();
  running.signal("SIGTERM");
}

export async function endAll(newcomers: Iterable<Newcomer>): Promise<void> {
  await Promise.all([...new Set(newcomers)].map(async (newcomer) => await newcomer.end()));
}
