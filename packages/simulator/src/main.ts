import { parseArgs } from "node:util";
import { run } from "./run.ts";
import type { RunReport } from "./run.ts";

const HELP = `pnpm sim --seed N [--steps M]   one world, its trace on standard output
pnpm sim --seed N --runs R      R worlds from this seed on, a summary each thousand`;

interface Options {
  readonly seed: number;
  readonly steps: number | null;
  readonly runs: number | null;
}

const number = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

function parse(): Options {
  const { values } = parseArgs({
    options: { seed: { type: "string", default: "1" }, steps: { type: "string" }, runs: { type: "string" } },
  });
  return { seed: Number(values.seed), steps: number(values.steps), runs: number(values.runs) };
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Exit code 1 when something was violated. */
async function one({ seed, steps }: Options): Promise<number> {
  const report = await run({ seed, ...(steps === null ? {} : { steps }), onLine: print });
  print(`${report.steps} steps, ${report.violations.length} violations`);
  return report.violations.length === 0 ? 0 : 1;
}

async function many({ seed: first, steps, runs }: Options & { readonly runs: number }): Promise<number> {
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
    if (done % 1_000 === 0 || done === runs)
      print(`${done} runs, ${total} steps, ${failed.length} with violations, ${(Date.now() - since) / 1_000} s`);
  }
  for (const [cell, hits] of [...cells].toSorted(([a], [b]) => a.localeCompare(b, "en"))) print(`${hits} ${cell}`);
  return failed.length === 0 ? 0 : 1;
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
  return runs === null ? await one(options) : await many({ ...options, runs });
}

process.exitCode = await main();
