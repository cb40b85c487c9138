import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bench, Benchmark } from "../support/bench.ts";
import { Home } from "../support/home.ts";
import { startLineEcho } from "../support/line-echo.ts";
import { alternating, median, timed } from "../support/measure.ts";
import { privateMemory } from "../support/resources.ts";

const SESSIONS = 100_000;
const FIRST_PAGE = "first page of 100,000 saved sessions";
const START = "daemon start, 100,000 saved sessions";
const FIRST_START = "daemon start, 100,000 saved sessions, no index yet";
const MEMORY = "private memory, supervisor with 100,000 saved sessions";
const OFFLINE = "agent session list without a daemon, 100,000 saved sessions";
const CALLS = 100;

export const savedSessionsBenchmark: Benchmark = {
  names: [FIRST_PAGE, START, FIRST_START, MEMORY, OFFLINE],
  run: async (bench) => {
    await using home = new Home();
    save(home);
    const firstMs = await home.agent("daemon", "start");
    bench.report({ name: FIRST_START, unit: "ms", value: firstMs, floor: await home.emptyNode() });
    await home.agent("daemon", "stop");
    if (bench.wants(START)) await start(bench, home);
    if (bench.wants(OFFLINE)) {
      const measured = await alternating({
        rounds: rounds(bench),
        floor: () => home.emptyNode(),
        subject: () => home.agent("session", "list"),
      });
      bench.report({ name: OFFLINE, unit: "ms", ...measured });
    }
    await home.agent("daemon", "start");
    await firstPage(bench, home);
    bench.report({ name: MEMORY, unit: "MiB", value: privateMemory(await home.daemon()) });
  },
};

/** Each takes a second or more. */
const rounds = ({ quick }: Bench): number => (quick ? 3 : 7);

async function start(bench: Bench, home: Home): Promise<void> {
  const measured = await alternating({
    rounds: rounds(bench),
    floor: () => home.emptyNode(),
    subject: async () => {
      const wallMs = await home.agent("daemon", "start");
      await home.agent("daemon", "stop");
      return wallMs;
    },
  });
  bench.report({ name: START, unit: "ms", ...measured });
}

async function firstPage(bench: Bench, home: Home): Promise<void> {
  const client = await home.client();
  const ask = (): Promise<{ readonly sessions: readonly unknown[] }> => client.call("session/list", {});
  const answer = await ask();
  if (answer.sessions.length === 0) throw new Error("no session is listed");
  await using echo = await startLineEcho(home, JSON.stringify(answer).length);
  const values: number[] = [];
  const floors: number[] = [];
  for (let call = 0; call < CALLS; call += 1) {
    floors.push(await timed(echo.ask));
    values.push(await timed(ask));
  }
  bench.report({
    name: FIRST_PAGE,
    unit: "ms",
    value: median(values),
    floor: median(floors),
    target: { of: "value", atMost: 50 },
    note: "floor: a line of the same length from a process that does nothing else",
  });
}

/** Half of them stopped, half archived, as the daemon would have left them. */
function save(home: Home): void {
  mkdirSync(home.path, { mode: 0o700 });
  mkdirSync(join(home.path, "sessions"), { mode: 0o700 });
  for (let at = 0; at < SESSIONS; at += 1) {
    const hex = at.toString(16).padStart(8, "0");
    const sessionId = `01999999-${hex.slice(0, 4)}-7${hex.slice(4, 7)}-8000-${hex.padStart(12, "0")}`;
    const folder = join(home.path, "sessions", sessionId);
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, "session.json"), recordOf(home, sessionId, at), { mode: 0o600 });
  }
}

function recordOf(home: Home, sessionId: string, at: number): string {
  const time = new Date(Date.UTC(2025, 0) + at * 60_000).toISOString();
  const cwd = join(home.root, "files");
  const record = {
    schemaVersion: 1,
    sessionId,
    name: at % 10 === 0 ? `session-${at}` : null,
    agent: "shell",
    cwd,
    project: cwd,
    wanted: at % 2 === 0 ? "stopped" : "archived",
    parentId: null,
    createdAt: time,
    lastActivityAt: time,
    creatingRequest: { requestId: crypto.randomUUID(), hash: "0".repeat(64) },
    recentRequests: [{ requestId: crypto.randomUUID(), hash: "1".repeat(64) }],
    environment: home.environment,
    secretNames: [],
    options: {},
    lastError: null,
    failure: null,
  };
  return `${JSON.stringify(record, null, 2)}\n`;
}
