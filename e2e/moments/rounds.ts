import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "../support/command.ts";
import { Home } from "../support/home.ts";
import { type Identity, signal } from "../support/processes.ts";
import { errorCode, parseEvents, parseRow } from "../support/rows.ts";
import { pause, waitFor } from "../support/wait-for.ts";
import { nothingUnknown } from "./outcome.ts";

const CHAINS = 4;
/** For each request with its repetitions, and for each state, on a machine under load. */
const PATIENCE_MS = 120_000;

export interface Rounds {
  readonly rounds: number;
  readonly seed: number;
}

export interface RoundsReport {
  readonly requests: number;
  readonly repeated: number;
  readonly supervisorsKilled: number;
  readonly workersKilled: number;
  readonly interrupted: number;
  readonly givenUp: number;
}

type Counts = { -readonly [Name in keyof RoundsReport]: number };
type Rest = "ready" | "stopped" | "archived";

/** One session after another, each request answered before the next. */
interface Chain {
  readonly name: string;
  readonly random: () => number;
  readonly counts: Counts;
  session: { readonly sessionId: string; rests: Rest } | null;
  /** What each prompt's command wrote: `sure` once, `maybe` at most once. */
  readonly sure: string[];
  readonly maybe: string[];
  /** How long the last request took: a kill falls anywhere into the next. */
  paceMs: number;
}

/** Numbers from 0 to below 1, the same in each run (a linear congruential generator, Numerical Recipes' constants). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Random requests while supervisor, worker or both are killed. Throws at what must not be; the home tells of the canary. */
export async function randomRounds({ rounds, seed }: Rounds): Promise<RoundsReport> {
  await using home = await Home.create({ timeoutMs: PATIENCE_MS, forceStop: true });
  const counts = { requests: 0, repeated: 0, supervisorsKilled: 0, workersKilled: 0, interrupted: 0, givenUp: 0 };
  const chains = Array.from({ length: CHAINS }, (_, index): Chain => {
    const random = randomFrom(seed * CHAINS + index);
    return { name: `c${index}`, random, counts, session: null, sure: [], maybe: [], paceMs: 500 };
  });
  const each = Math.ceil(rounds / CHAINS);
  const ended = await Promise.allSettled(
    chains.map(async (chain) => {
      for (let round = 0; round < each; round += 1) await playRound(home, chain, round);
    }),
  );
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  for (const chain of chains) checkLog(home, chain);
  await nothingUnknown(home);
  return counts;
}

const verbs = {
  none: ["new"],
  ready: ["prompt", "prompt", "prompt", "steer", "steer", "stop", "archive"],
  stopped: ["resume", "resume", "archive"],
  archived: ["resume", "new"],
} as const;
type Verb = (typeof verbs)[keyof typeof verbs][number];

const victims = ["supervisor", "worker", "both", "nobody"] as const;

const logOf = (home: Home, { name }: Chain): string => join(home.files, `${name}.log`);

function pick<T>(list: readonly T[], random: () => number): T {
  const one = list[Math.floor(random() * list.length)];
  if (one === undefined) throw new Error("nothing to pick");
  return one;
}

function argumentsOf(home: Home, chain: Chain, order: { readonly verb: Verb; readonly id: string }): readonly string[] {
  const { verb, id } = order;
  if (verb === "new") return ["session", "new", "--name", id];
  const words = verb === "prompt" || verb === "steer" ? [`sleep 0.1; echo ${id} >> ${logOf(home, chain)}`] : [];
  return ["session", verb, chain.session?.sessionId ?? "", ...words];
}

async function playRound(home: Home, chain: Chain, round: number): Promise<void> {
  const { random, counts, session } = chain;
  const verb = pick<Verb>(verbs[session?.rests ?? "none"], random);
  const id = `${chain.name}-${round}`;
  const args = [...argumentsOf(home, chain, { verb, id }), "--request-id", id, "--json"];
  const began = performance.now();
  counts.requests += 1;
  const answer = await untilAnswered(home, chain, { args, victim: pick(victims, random) });
  chain.paceMs = Math.min(5_000, performance.now() - began);
  if (verb === "prompt" || verb === "steer")
    (answer.code === 0 && verb === "prompt" ? chain.sure : chain.maybe).push(id);
  if (verb === "new") chain.session = { sessionId: parseRow(answer.stdout).sessionId, rests: "ready" };
  else if (session) session.rests = restAfter(verb, session.rests);
  await untilAtRest(home, chain);
  // A prompt is told that it was interrupted; a steer was only acknowledged, and the transcript says what became of it.
  if (verb === "steer" && (await wasInterrupted(home, chain, id))) chain.maybe.push(...chain.sure.splice(-1));
}

async function wasInterrupted(home: Home, { session }: Chain, id: string): Promise<boolean> {
  // Another chain may kill the supervisor that is asked.
  const transcript = async (): Promise<Result | null> => {
    const result = await home.agent(["session", "transcript", session?.sessionId ?? "", "--json"]);
    return result.code === 0 ? result : null;
  };
  const events = parseEvents((await waitFor(transcript, "the transcript is read", PATIENCE_MS)).stdout);
  return events.some(({ operations = [] }) => operations.some(({ title }) => title.includes(`echo ${id} `)));
}

const restAfter = (verb: Exclude<Verb, "new">, rests: Rest): Rest =>
  verb === "stop" ? "stopped" : verb === "archive" ? "archived" : verb === "resume" ? "ready" : rests;

/** Sends a request, kills in the middle of it, and repeats it under its id until it has an answer; then once more: the same. */
async function untilAnswered(
  home: Home,
  chain: Chain,
  { args, victim }: { readonly args: readonly string[]; readonly victim: (typeof victims)[number] },
): Promise<Result> {
  const client = home.start(args);
  await Promise.race([client.ended, pause(chain.random() * chain.paceMs)]);
  killVictim(home, chain, victim);
  if (chain.random() < 0.3) client.killGroup();
  const first = await client.result(PATIENCE_MS);
  const answer = isFinal(first) ? first : await repeated(home, chain, args);
  const again = await repeated(home, chain, args);
  if (again.code !== answer.code)
    throw new Error(`${args.join(" ")}: ${answer.code}, then ${again.code}: ${again.stderr}`);
  if (answer.code !== 0) chain.counts.interrupted += 1;
  return answer;
}

async function repeated(home: Home, chain: Chain, args: readonly string[]): Promise<Result> {
  let last = "no answer";
  const tried = async (): Promise<Result | null> => {
    chain.counts.repeated += 1;
    const result = await home.agent(args);
    last = `${result.code}: ${result.stderr}`;
    if (errorCode(result.stderr) === "session_failed") await bringBack(home, chain);
    return isFinal(result) ? result : null;
  };
  return await waitFor(tried, `${args.join(" ")} is answered`, PATIENCE_MS).catch((error: unknown) => {
    throw new Error(`${args.join(" ")}: the last answer was ${last}`, { cause: error });
  });
}

/** An interrupted turn is an answer too: it is not run again. */
const isFinal = ({ code, stderr }: Result): boolean => code === 0 || errorCode(stderr) === "interrupted";

/** Its worker was killed more often than it is launched again by itself. */
async function bringBack(home: Home, { session, counts }: Chain): Promise<void> {
  counts.givenUp += 1;
  await home.agent(["session", "resume", session?.sessionId ?? ""]);
}

function killVictim(home: Home, { session, counts }: Chain, victim: (typeof victims)[number]): void {
  const [supervisor] = home.supervisors();
  const workerOf =
    session && existsSync(home.descriptorPath(session.sessionId)) ? workerAt(home, session.sessionId) : null;
  if (workerOf && (victim === "worker" || victim === "both") && signal(workerOf, "SIGKILL")) counts.workersKilled += 1;
  if (supervisor && (victim === "supervisor" || victim === "both") && signal(supervisor, "SIGKILL"))
    counts.supervisorsKilled += 1;
}

/** `null` when the descriptor goes while it is read. */
function workerAt(home: Home, sessionId: string): Identity | null {
  try {
    const { process }: { process: { identity: Identity } } = JSON.parse(
      readFileSync(home.descriptorPath(sessionId), "utf8"),
    );
    return process.identity;
  } catch {
    return null;
  }
}

/** No session is in limbo: it comes to rest where its last request wants it (I137). */
async function untilAtRest(home: Home, chain: Chain): Promise<void> {
  const { session } = chain;
  if (!session) return;
  let last = "";
  const isThere = async (): Promise<boolean> => {
    const shown = await home.agent(["session", "show", session.sessionId, "--json"]);
    last = shown.code === 0 ? shown.stdout : shown.stderr;
    if (shown.code !== 0) return false;
    const { state, lifecycle, openOperations } = parseRow(shown.stdout);
    if (state === "failed") await bringBack(home, chain);
    if (lifecycle === "archived") return session.rests === "archived";
    return state === session.rests && openOperations === 0;
  };
  await waitFor(isThere, `${session.sessionId} is ${session.rests}`, PATIENCE_MS).catch((error: unknown) => {
    throw new Error(`not ${session.rests}: ${last}`, { cause: error });
  });
}

/** Nothing acknowledged is lost, and nothing has run twice. */
function checkLog(home: Home, chain: Chain): void {
  const path = logOf(home, chain);
  const ran = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  const twice = ran.filter((id, index) => ran.indexOf(id) !== index);
  const lost = chain.sure.filter((id) => !ran.includes(id));
  const unasked = ran.filter((id) => id !== "" && !chain.sure.includes(id) && !chain.maybe.includes(id));
  if (twice.length + lost.length + unasked.length > 0)
    throw new Error(`${chain.name}: ${JSON.stringify({ twice, lost, unasked })}`);
}
