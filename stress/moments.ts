import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Moment } from "../e2e/moments/orders.ts";
import { buildProgram } from "../e2e/moments/paused.ts";
import { reasonsOf } from "../e2e/moments/reasons.ts";
import { dieAt, record } from "../e2e/moments/run.ts";
import { scenarios } from "../e2e/moments/scenarios.ts";
import type { Scenario } from "../e2e/moments/scenarios.ts";
import type { Target } from "./target.ts";

const SIDE_BY_SIDE = 3;

/** The supervisor dies before and after every call to its world, in each scenario. */
export const moments: Target = async () => {
  const directory = mkdtempSync(join(tmpdir(), "moments-"));
  let isFine = true;
  try {
    const program = await buildProgram(directory);
    for (const scenario of scenarios) if (!(await everyMoment(scenario, program))) isFine = false;
  } finally {
    rmSync(directory, { recursive: true });
  }
  return isFine;
};

async function everyMoment(scenario: Scenario, program: string): Promise<boolean> {
  const all = await record(scenario, program);
  const left = [...all];
  const sum = { reached: 0, missed: 0, wrong: 0 };
  const one = async (moment: Moment): Promise<void> => {
    const where = `${scenario.name}, ${moment.when} ${moment.call} (${moment.nth})`;
    try {
      sum[(await dieAt(scenario, program, moment)) ? "reached" : "missed"] += 1;
    } catch (error) {
      sum.wrong += 1;
      process.stderr.write(`moments: ${where}: ${reasonsOf(error)}\n`);
    }
  };
  const some = async (): Promise<void> => {
    for (let moment = left.shift(); moment; moment = left.shift()) await one(moment);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, some));
  const columns = Object.entries(sum).map(([name, count]) => `${name} ${String(count).padStart(4)}`);
  process.stdout.write(
    `${scenario.name.padEnd(14)} moments ${String(all.length).padStart(4)}   ${columns.join("   ")}\n`,
  );
  return sum.wrong === 0;
}
