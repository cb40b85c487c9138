import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { benchmarks } from "./benchmarks.ts";
import { Bench, type Benchmark } from "./support/bench.ts";
import { isBuilt } from "./support/built.ts";
import { endChildren } from "./support/children.ts";
import { closeHomes } from "./support/home.ts";
import type { Row } from "./support/row.ts";
import { tableOf } from "./support/table.ts";

const USAGE = "usage: pnpm bench [--json] [--quick] [--list] [FILTER]\n";
const INTERRUPTED_EXIT = 130;

/** Ctrl-C ends what was started before it ends the run. */
function endOnSignals(): void {
  let ending = false;
  const onSignal = (): void => {
    if (ending) return;
    ending = true;
    process.stderr.write("ending what was started\n");
    void endChildren()
      .then(closeHomes)
      .finally(() => process.exit(INTERRUPTED_EXIT));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { json: { type: "boolean" }, quick: { type: "boolean" }, list: { type: "boolean" } },
    allowPositionals: true,
  });
  const { json = false, quick = false, list = false } = values;
  const filter = positionals.join(" ");
  if (list) {
    process.stdout.write(`${benchmarks.flatMap(({ names }) => names).join("\n")}\n`);
    return 0;
  }
  if (!isBuilt()) {
    process.stderr.write("not built yet; run `pnpm build` first\n");
    return 1;
  }
  const bench = new Bench({ quick, filter });
  const wanted = benchmarks.filter(({ names }) => bench.wants(...names));
  if (wanted.length === 0) throw new Error(`no row contains ${JSON.stringify(filter)}; --list names them all`);
  endOnSignals();
  const at = new Date().toISOString();
  const load = loadavg()[0] ?? Number.NaN;
  const failures = await runAll(bench, wanted);
  const run = { at, node: process.version, cores: cpus().length, load, quick, rows: bench.rows, failures };
  process.stdout.write(json ? `${JSON.stringify({ schemaVersion: 1, ...run })}\n` : readable(run));
  return failures.length > 0 ? 1 : 0;
}

interface Failure {
  readonly names: readonly string[];
  readonly reason: string;
}

/** What cannot be measured does not keep the rest from it. */
async function runAll(bench: Bench, wanted: readonly Benchmark[]): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const { names, run } of wanted) {
    bench.say(names.filter((name) => bench.wants(name)).join(", "));
    try {
      await run(bench);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      failures.push({ names, reason });
      bench.say(`  not measured: ${reason}`);
    }
  }
  await endChildren();
  await closeHomes();
  return failures;
}

interface Run {
  readonly at: string;
  readonly node: string;
  readonly cores: number;
  /** Processes that wanted a core in the minute before: above the number of cores, all times are too long. */
  readonly load: number;
  readonly quick: boolean;
  readonly rows: readonly Row[];
  readonly failures: readonly Failure[];
}

function readable({ at, node, cores, load, quick, rows, failures }: Run): string {
  const conditions = [
    at,
    `Node ${node}`,
    `${cores} cores`,
    `load ${load.toFixed(1)} before`,
    ...(quick ? ["--quick"] : []),
  ];
  const missing = failures.map(({ names, reason }) => `not measured: ${names.join(", ")}: ${reason}\n`);
  return `${conditions.join(", ")}\n\n${tableOf(rows)}\n${missing.join("")}`;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  process.exitCode = 2;
}
