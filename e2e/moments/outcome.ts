import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Home } from "../support/home.ts";
import { psOf } from "../support/ps.ts";
import type { SessionRow } from "../support/rows.ts";
import { parseRow, parseRows } from "../support/rows.ts";
import { waitFor } from "../support/wait-for.ts";
import type { Scenario } from "./scenarios.ts";
import { wordsOf } from "./scenarios.ts";

const namesIn = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);

/** What every session of the home was to become when its supervisor died, by the files alone. */
function wantedNow(home: Home): Map<string, string> {
  const folder = join(home.path, "sessions");
  const ends = { running: "ready", stopped: "stopped", archived: "archived", passive: "passivated" } as const;
  return new Map(
    namesIn(folder).flatMap((sessionId) => {
      const path = join(folder, sessionId, "session.json");
      // A deletion that goes on at the next start keeps the record as the trace of its request.
      if (sessionId.endsWith(".deleted") || !existsSync(path)) return [];
      const { wanted }: { wanted: keyof typeof ends } = JSON.parse(readFileSync(path, "utf8"));
      return [[sessionId, ends[wanted]]];
    }),
  );
}

async function everySession(home: Home): Promise<readonly SessionRow[]> {
  return parseRows((await home.ok(["session", "list", "--archived", "--json"])).stdout);
}

const endOf = ({ lifecycle, state }: SessionRow): string => (lifecycle === "archived" ? "archived" : state);
const shown = (rows: readonly SessionRow[]): Map<string, string> =>
  new Map(rows.map((row) => [row.sessionId, endOf(row)]));

/** A successor alone, asked nothing: what was durable goes on and ends, and nothing else is there (DESIGN §3.2). */
export async function promised(home: Home): Promise<void> {
  const wanted = wantedNow(home);
  await home.ok(["daemon", "start"]);
  const isSo = async (): Promise<boolean> => same(shown(await everySession(home)), wanted);
  await waitFor(isSo, `the successor makes it so: ${text(wanted)}`, 60_000).catch(async (error: unknown) => {
    throw new Error(`it is ${text(shown(await everySession(home)))}`, { cause: error });
  });
}

const text = (map: Map<string, string>): string =>
  [...map.entries()]
    .map((entry) => entry.join(" is "))
    .toSorted()
    .join(", ");
const same = (one: Map<string, string>, other: Map<string, string>): boolean => text(one) === text(other);

/** The request under its id until it is answered, and once more: one effect, one answer. */
export async function outcome(scenario: Scenario, home: Home): Promise<void> {
  const { request, end, said = [] } = scenario;
  const first = await home.ok([...request(home), "--json"]);
  const again = await home.ok([...request(home), "--json"]);
  const answers = [first, again].map(({ stdout }) => answerIn(stdout));
  if (answers[0] !== answers[1]) throw new Error(`answered ${answers[0]} and then ${answers[1]}`);
  const rows = await everySession(home);
  const ends = rows.map((row) => (row.name === "s" ? endOf(row) : `${row.name} is ${row.state}`));
  const wanted = end === "absent" ? [] : [end];
  if (ends.join() !== wanted.join()) throw new Error(`not ${end}: ${JSON.stringify(rows)}`);
  const words = wordsOf(home);
  if (words.join() !== said.join()) throw new Error(`its commands said ${words.join()}, not ${said.join()}`);
  await nothingUnknown(home);
}

/** What must be the same whenever it is told. */
function answerIn(stdout: string): string {
  const line = stdout.split("\n")[0] ?? "";
  const { sessionId, state, lifecycle, created } = parseRow(line);
  return JSON.stringify({ sessionId, state, lifecycle, created });
}

/** Processes, records and run-time files name one another, one to one (I144, I145). */
export async function nothingUnknown(home: Home): Promise<void> {
  await waitFor(async () => (await stray(home)) === "", "nothing unknown is left", 30_000).catch(
    async (error: unknown) => {
      throw new Error(await stray(home), { cause: error });
    },
  );
}

async function stray(home: Home): Promise<string> {
  const { daemons, workers, orphans, scan } = await psOf(home);
  const rows = await everySession(home);
  const expected = rows.flatMap(({ pid }) => (pid === null ? [] : [pid]));
  const live = workers.map(({ pid }) => pid);
  const found = home.processes().filter(({ command }) => /^holdfast|worker\.js|supervisor\.js/.test(command));
  const known = new Set([...expected, ...daemons.map(({ pid }) => pid)]);
  const unknown = found.filter(({ pid }) => !known.has(pid));
  const named = expected.length;
  const descriptors = namesIn(join(home.path, "workers"));
  const sessions = namesIn(join(home.path, "sessions")).filter((name) => name !== "index");
  const run = namesIn(join(home.path, "run")).filter((name) => /\.(?:sock|alive|tmp)$/.test(name));
  const problems = {
    orphans,
    scan: scan.problems,
    unknown,
    workers: sorted(live) === sorted(expected) ? [] : [{ live, expected }],
    descriptors: descriptors.length === named ? [] : descriptors,
    owners: namesIn(join(home.path, "owner")).length > 1 ? namesIn(join(home.path, "owner")) : [],
    sessions: sessions.length === rows.length ? [] : sessions,
    // One socket and one lifeline each.
    run: run.length === 2 * (named + daemons.length) ? [] : run,
  };
  return Object.values(problems).every((list) => list.length === 0) ? "" : JSON.stringify(problems);
}

const sorted = (numbers: readonly number[]): string => numbers.map(String).toSorted().join();
