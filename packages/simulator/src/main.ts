import { parseArgs } from "node:util";
import { explore } from "./explore/explore.ts";
import { regressions } from "./proof/regressions.ts";
import { run } from "./run.ts";
import type { RunReport } from "./run.ts";

const HELP = `pnpm sim --seed N [--steps M]       one world, its trace on standard output
pnpm sim --seed N --runs R          R worlds from this seed on, a summary each thousand, and the hits of each cell
pnpm sim --seed N --runs R --first  the same, up to the first violation
pnpm sim --regressions              the worlds in which something was broken once
pnpm sim --explore DEPTH            every interleaving of one worker and two clients, so many steps deep`;

interface Options {
  readonly seed: number;
  readonly steps: number | null;
  readonly runs: number | null;
  readonly first: boolean;
  readonly explore: number | null;
  readonly regressions: boolean;
}

const number = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

function parse(): Options {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      steps: { type: "string" },
      runs: { type: "string" },
      first: { type: "boolean", default: false },
      explore: { type: "string" },
      regressions: { type: "boolean", default: false },
    },
  });
  const { seed, steps, runs, first, explore: depth, regressions: again } = values;
  const numbers = { steps: number(steps), runs: number(runs), explore: number(depth) };
  return { seed: Number(seed), first, regressions: again, ...numbers };
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Exit code 1 when something was violated. */
async function one({ seed, steps }: Options): Promise<number> {
  const report = await run({ seed, ...(steps === null ? {} : { steps }), onLine: print });
  print(`${report.steps} steps, ${report.violations.length} violations`);
  return report.violations.length === 0 ? 0 : 1;
}

async function many(options: Options & { readonly runs: number }): Promise<number> {
  const { seed: first, steps, runs } = options;
  const since = Date.now();
  const cells = new Map<string, number>();
  const failed: RunReport[] = [];
  let total = 0;
  for (let seed = first; seed < first + runs; seed += 1) {
    const report = await run({ seed, ...(steps === null ? {} : { steps }) });
    total += report.steps;
    for (const [cell, hits] of report.cells) cells.set(cell, (cells.get(cell) ?? 0) + hits);
    if (report.violations.length > 0) {
      failed.push(report);
      print(`seed ${seed}: ${report.violations.join("; ")}`);
    }
    const done = seed - first + 1;
    if (options.first && failed.length > 0) return 1;
    if (done % 1_000 === 0 || done === runs)
      print(`${done} runs, ${total} steps, ${failed.length} with violations, ${(Date.now() - since) / 1_000} s`);
  }
  printCells(cells);
  return failed.length === 0 ? 0 : 1;
}

async function runRegressions(): Promise<number> {
  let broken = 0;
  for (const { seed, swarm, broke } of regressions) {
    const { violations } = await run({ seed, swarm });
    if (violations.length > 0) print(`seed ${seed}, which broke ${broke}: ${violations.join("; ")}`);
    broken += violations.length;
  }
  print(`${regressions.length} worlds, ${broken} violations`);
  return broken === 0 ? 0 : 1;
}

function printCells(cells: ReadonlyMap<string, number>): void {
  for (const [cell, hits] of [...cells].toSorted(([a], [b]) => a.localeCompare(b, "en"))) print(`${hits} ${cell}`);
}

function exploreTo(depth: number): number {
  const since = Date.now();
  const { states, steps, violations, cells } = explore({ depth, orders: [1, 1] });
  for (const violation of violations) print(violation);
  print(`${states} situations, ${steps} steps, ${violations.length} violations, ${(Date.now() - since) / 1_000} s`);
  printCells(cells);
  return violations.length === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  let options: Options;
  try {
    options = parse();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${HELP}\n`);
    return 2;
  }
  const { runs } = options;
  if (options.regressions) return await runRegressions();
  if (options.explore !== null) return exploreTo(options.explore);
  return runs === null ? await one(options) : await many({ ...options, runs });
}

// Whoever reads has seen enough.
process.stdout.on("error", () => process.exit());
process.exitCode = await main();
