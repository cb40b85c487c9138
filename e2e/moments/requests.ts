import { deepEqual, equal, ok } from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "../support/command.ts";
import { Home, identityOfRecord } from "../support/home.ts";
import { type Identity, isRunning, signal } from "../support/processes.ts";
import { parseRow } from "../support/rows.ts";
import type { SessionRow } from "../support/rows.ts";
import { pause, waitFor } from "../support/wait-for.ts";
import { type Rounds, randomFrom } from "./rounds.ts";

const CHAINS = 4;

export interface RequestsReport {
  readonly requests: number;
  readonly attempts: number;
  readonly supervisorsKilled: number;
}

/**
 * Requests of four sessions side by side, in so many rounds of each, with clients and supervisors killed between request and answer.
 * Throws where one did not take effect once.
 */
export async function requestsOnce({ rounds, seed }: Rounds): Promise<RequestsReport> {
  await using home = await Home.create();
  const world: World = { home, random: randomFrom(seed), attempts: new Map(), killing: true };
  await home.ok(["daemon", "start"]);
  const killer = killSupervisors(world);
  const names = Array.from({ length: CHAINS }, (_, index) => `c${index}`);
  const ended = await Promise.allSettled(names.map(async (name) => await chain(world, name, rounds)));
  world.killing = false;
  const supervisorsKilled = await killer;
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  for (const name of names) checkLog(home, name, rounds);
  deepEqual(await home.list(), []);
  ok((await home.ok(["session", "list", "--archived", "--json"])).stdout.includes('"sessions":[]'));
  const attempts = [...world.attempts.values()].reduce((sum, count) => sum + count, 0);
  return { requests: world.attempts.size, attempts, supervisorsKilled };
}

/** What was asked of a session ran, each once. */
function checkLog(home: Home, name: string, rounds: number): void {
  const path = join(home.files, `${name}.log`);
  const ran = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  const wanted = Array.from({ length: rounds }, (_, round) =>
    ["prompt", "follow", "slow", "again"].map((kind) => `${name}.${kind}${round}`),
  ).flat();
  deepEqual(ran.toSorted(), wanted.toSorted());
}

interface World {
  readonly home: Home;
  readonly random: () => number;
  /** Every id that was asked for, and how often it took until it was answered. */
  readonly attempts: Map<string, number>;
  /** Set while the killer is at work. */
  killing: boolean;
}

/** One request, repeated under its id until an attempt reports success; some attempts lose their client in the middle. */
async function toCompletion(world: World, id: string, args: readonly string[]): Promise<Result> {
  const { home, random, attempts } = world;
  let last = "no answer";
  const tried = async (): Promise<Result | null> => {
    attempts.set(id, (attempts.get(id) ?? 0) + 1);
    const client = home.start([...args, "--request-id", id, "--json"], { timeoutMs: 60_000 });
    if (world.killing && random() < 0.4) {
      await Promise.race([client.ended, pause(40 + random() * 360)]);
      client.killGroup();
    }
    const result = await client.result(60_000);
    last = `${result.code}: ${result.stderr}`;
    return result.code === 0 ? result : null;
  };
  try {
    return await waitFor(tried, `request ${id} (${args.join(" ")}) succeeds`, 90_000);
  } catch (error) {
    throw new Error(`${id} never succeeded; the last attempt said ${last}`, { cause: error });
  }
}

/** The supervisor that serves now; `null` between two, or while one starts. */
function serving(home: Home): Identity | null {
  const record = home.owner();
  const daemon = identityOfRecord(record);
  return record.phase === "serving" && isRunning(daemon) ? daemon : null;
}

/**
 * Kills the supervisor at random moments until told otherwise; each death is between some request and its answer. Every fifth dies
 * wherever it is; the others live for a while that is measured by their own start, since a machine under load would else have none
 * that lives long enough to answer anybody.
 */
async function killSupervisors(world: World): Promise<number> {
  const { home, random } = world;
  let kills = 0;
  while (world.killing) {
    const since = performance.now();
    if (random() > 0.2) await waitFor(() => !world.killing || serving(home), "a supervisor serves", 60_000);
    await pause(400 + random() * 4 * (performance.now() - since));
    const supervisor = home.supervisors()[0];
    if (supervisor && signal(supervisor, "SIGKILL")) kills += 1;
  }
  return kills;
}

/** The session as a daemon that lives long enough shows it; a worker that a successor has not reached yet is `recovering`. */
async function shown(home: Home, sessionId: string): Promise<SessionRow> {
  const look = async (): Promise<SessionRow | null> => {
    const result = await home.agent(["session", "show", sessionId, "--json"]);
    const row = result.code === 0 ? parseRow(result.stdout) : null;
    return row?.state === "recovering" ? null : row;
  };
  return await waitFor(look, `${sessionId} is shown`, 30_000);
}

/** Requests of one session in a row, each answered before the next; old ones are repeated when they could do harm. */
async function chain(world: World, name: string, rounds: number): Promise<void> {
  const { home } = world;
  const log = join(home.files, `${name}.log`);
  const say = (id: string): string => `echo ${id} >> ${log}`;
  const created = await toCompletion(world, `${name}.new`, ["session", "new", "--name", name]);
  const { sessionId } = parseRow(created.stdout);
  const ask = async (id: string, ...args: string[]): Promise<Result> =>
    await toCompletion(world, `${name}.${id}`, args);
  for (let round = 0; round < rounds; round += 1) {
    const stop = ["session", "stop", sessionId];
    await ask(`prompt${round}`, "prompt", sessionId, say(`${name}.prompt${round}`));
    await ask(`follow${round}`, "session", "follow-up", sessionId, say(`${name}.follow${round}`));
    await ask(`rename${round}`, "session", "rename", sessionId, `${name}-${round}`);
    await ask(`set${round}`, "session", "set", sessionId, `round=${round}`);
    await ask(`cancel${round}`, "session", "cancel", sessionId);
    await ask(`slow${round}`, "session", "follow-up", sessionId, `sleep 1; ${say(`${name}.slow${round}`)}`);
    // The cancel of before, once more, does not end the turn of now.
    await ask(`cancel${round}`, "session", "cancel", sessionId);
    await ask(`again${round}`, "prompt", sessionId, say(`${name}.again${round}`));
    await ask(`stop${round}`, ...stop);
    const { pid } = parseRow((await ask(`resume${round}`, "session", "resume", sessionId)).stdout);
    // The stop of before the resume, once more: answered as then, and nobody is stopped.
    equal(parseRow((await ask(`stop${round}`, ...stop)).stdout).state, "stopped");
    const row = await shown(home, sessionId);
    deepEqual([row.state, row.pid, row.name], ["ready", pid, `${name}-${round}`]);
    await ask(`archive${round}`, "session", "archive", sessionId);
    await ask(`unarchive${round}`, "session", "unarchive", sessionId);
    await ask(`archive${round}`, "session", "archive", sessionId);
    equal((await shown(home, sessionId)).lifecycle, "live");
    await ask(`back${round}`, "session", "resume", sessionId);
  }
  await ask("end", "session", "stop", sessionId);
  await ask("delete", "session", "delete", sessionId, "--yes");
  await ask("delete", "session", "delete", sessionId, "--yes");
  // A session that was created and deleted is not created again by its first request.
  await ask("new", "session", "new", "--name", name);
}
