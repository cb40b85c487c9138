import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Identity, isRunning, signal } from "../../e2e/support/processes.ts";
import type { Client, SessionRow } from "../../packages/client/src/index.ts";
import type { Bench, Benchmark } from "../support/bench.ts";
import { Home, running } from "../support/home.ts";
import { startLineEcho } from "../support/line-echo.ts";
import { median, timed } from "../support/measure.ts";
import { cpuTime, privateMemory } from "../support/resources.ts";
import type { Target } from "../support/row.ts";
import { adoptedAfterKill } from "./adoption.ts";

const SESSIONS = 50;
const LIST = "session/list over the socket, 50 live sessions";
const SUPERVISOR_MEMORY = "private memory, idle supervisor";
const WORKER_MEMORY = "private memory, idle worker";
const MEMORY_OF_50 = "private memory, idle supervisor with 50 sessions";
const IDLE_CPU = "idle CPU, supervisor and 50 workers";
const ADOPTION = "supervisor killed: 50 workers adopted after the next command";
const ADOPTION_FROZEN = "supervisor killed, one worker frozen: 49 adopted";
const FROZEN_ALONE = "frozen worker: stop until gone";
const FROZEN_ALL = "50 frozen workers: stop until all are gone";

const IDLE_MS = 10_000;
/** V8 tidies up once, 8 to 35 s after the last work; then nothing runs. What is asked for is what idling costs, not its beginning. */
const SETTLED_MS = 40_000;
const LIST_CALLS = 1_000;

const atMost = (value: number): Target => ({ of: "value", atMost: value });

const memory: Benchmark = {
  names: [SUPERVISOR_MEMORY, WORKER_MEMORY],
  run: async (bench) => {
    await using home = new Home();
    await home.agent("daemon", "start");
    const session = await home.newSession(await home.client());
    await sleep(IDLE_MS);
    const [supervisor, worker] = [await home.daemon(), running(session.pid)];
    bench.report({ name: SUPERVISOR_MEMORY, unit: "MiB", value: privateMemory(supervisor), target: atMost(16) });
    bench.report({ name: WORKER_MEMORY, unit: "MiB", value: privateMemory(worker), target: atMost(11) });
  },
};

const fifty: Benchmark = {
  names: [LIST, MEMORY_OF_50, IDLE_CPU, ADOPTION, ADOPTION_FROZEN, FROZEN_ALONE, FROZEN_ALL],
  run: async (bench) => {
    await using home = new Home();
    await home.agent("daemon", "start");
    const client = await home.client();
    const sessions = await home.newSessions(client, SESSIONS);
    if (bench.wants(LIST)) await list(bench, home, client);
    if (bench.wants(MEMORY_OF_50, IDLE_CPU)) await idle(bench, home, sessions);
    if (bench.wants(ADOPTION)) await adoption(bench, home, sessions);
    if (bench.wants(ADOPTION_FROZEN)) await adoptionWithFrozen(bench, home, sessions);
    if (bench.wants(FROZEN_ALONE)) await frozenAlone(bench, home, client);
    if (bench.wants(FROZEN_ALL)) await frozenAll(bench, home, { client, sessions });
  },
};

async function list(bench: Bench, home: Home, client: Client): Promise<void> {
  const answer = await client.call("session/list", {});
  if (answer.sessions.length !== SESSIONS) throw new Error(`${answer.sessions.length} sessions are listed`);
  await using echo = await startLineEcho(home, JSON.stringify(answer).length);
  const value = await medianOfCalls(() => client.call("session/list", {}));
  bench.report({
    name: LIST,
    unit: "ms",
    value,
    floor: await medianOfCalls(echo.ask),
    target: atMost(1),
    note: "floor: a line of the same length from a process that does nothing else",
  });
}

async function medianOfCalls(call: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let calls = 0; calls < LIST_CALLS; calls += 1) times.push(await timed(call));
  return median(times);
}

async function idle(bench: Bench, home: Home, sessions: readonly SessionRow[]): Promise<void> {
  await sleep(IDLE_MS);
  const supervisor = await home.daemon();
  bench.report({ name: MEMORY_OF_50, unit: "MiB", value: privateMemory(supervisor) });
  if (!bench.wants(IDLE_CPU)) return;
  await sleep(SETTLED_MS - IDLE_MS);
  const all = [supervisor, ...sessions.map(({ pid }) => running(pid))];
  const used = (): number => all.reduce((sum, identity) => sum + cpuTime(identity), 0);
  const durationMs = bench.quick ? 10_000 : 60_000;
  const [from, before] = [performance.now(), used()];
  await sleep(durationMs);
  const value = (100 * (used() - before)) / (performance.now() - from);
  bench.report({ name: IDLE_CPU, unit: "%", value, target: atMost(0.1) });
}

const ADOPTION_TARGET = atMost(500);

async function adoption(bench: Bench, home: Home, sessions: readonly SessionRow[]): Promise<void> {
  const value = await medianOf(bench, () => adoptedAfterKill(home, sessions));
  bench.report({ name: ADOPTION, unit: "ms", value, target: ADOPTION_TARGET });
}

async function adoptionWithFrozen(bench: Bench, home: Home, sessions: readonly SessionRow[]): Promise<void> {
  const [first, ...others] = sessions;
  const frozen = [running(first?.pid ?? null)];
  signalAll(frozen, "SIGSTOP");
  const value = await medianOf(bench, () => adoptedAfterKill(home, others));
  bench.report({ name: ADOPTION_FROZEN, unit: "ms", value, target: ADOPTION_TARGET });
  signalAll(frozen, "SIGCONT");
  // The next benchmark must not meet a worker that is still being found again.
  await adoptedAfterKill(home, sessions);
}

async function medianOf(bench: Bench, run: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < (bench.quick ? 3 : 7); round += 1) values.push(await run());
  return median(values);
}

async function frozenAlone(bench: Bench, home: Home, client: Client): Promise<void> {
  const values: number[] = [];
  for (let round = 0; round < (bench.quick ? 1 : 3); round += 1) {
    const session = await home.newSession(client);
    values.push(await stoppedWhileFrozen(home, client, [session]));
  }
  bench.report({ name: FROZEN_ALONE, unit: "ms", value: median(values), target: atMost(7_500) });
}

async function frozenAll(bench: Bench, home: Home, all: { client: Client; sessions: readonly SessionRow[] }) {
  const value = await stoppedWhileFrozen(home, all.client, all.sessions);
  bench.report({ name: FROZEN_ALL, unit: "ms", value, target: atMost(9_000) });
}

/** Milliseconds until every process and every descriptor is gone. */
async function stoppedWhileFrozen(home: Home, client: Client, sessions: readonly SessionRow[]): Promise<number> {
  const workers = sessions.map(({ pid }) => running(pid));
  signalAll(workers, "SIGSTOP");
  return await timed(async () => {
    await Promise.all(sessions.map((session) => stop(client, session)));
    const left = (): boolean =>
      workers.some(isRunning) || sessions.some((session) => existsSync(home.descriptorPath(session)));
    while (left()) await sleep(POLL_MS);
  });
}

const stop = (client: Client, { sessionId }: SessionRow): Promise<unknown> =>
  client.call("session/stop", { requestId: crypto.randomUUID(), session: sessionId, wait: true });

const POLL_MS = 5;

/** What stays frozen after a failure is ended with its home. */
function signalAll(identities: readonly Identity[], name: NodeJS.Signals): void {
  for (const identity of identities) signal(identity, name);
}

export const sessionBenchmarks: readonly Benchmark[] = [memory, fifty];
