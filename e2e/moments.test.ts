import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildProgram } from "./moments/paused.ts";
import { boundaries, dieAt, record } from "./moments/run.ts";
import { scenarios } from "./moments/scenarios.ts";
import { reasonsOf } from "./moments/reasons.ts";

let directory: string;
let program: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "hf-moments-"));
  program = await buildProgram(directory);
});
afterAll(() => rmSync(directory, { recursive: true }));

/** The others are run with all moments of all, by `pnpm stress moments`. */
const named = ["launch", "archive", "recovery", "claim", "maintenance"];
const bounded = scenarios.filter(({ name }) => named.includes(name));

/** The one in the middle: each takes seconds of real processes. */
const some = <T>(phases: readonly T[]): readonly T[] => phases.slice(phases.length >> 1, (phases.length >> 1) + 1);

it.concurrent.each(bounded)(
  "I130 I135 I143 kill -9 of the supervisor in the middle of $name: what was durable goes on and ends, and the request has one effect",
  async (scenario) => {
    const phases = boundaries(await record(scenario, program));
    expect(phases.length).toBeGreaterThan(1);
    const wrong: string[] = [];
    for (const moment of some(phases)) {
      try {
        if (!(await dieAt(scenario, program, moment))) wrong.push(`before ${moment.call}: not reached`);
      } catch (error) {
        wrong.push(`before ${moment.call}: ${reasonsOf(error)}`);
      }
    }
    expect(wrong).toEqual([]);
  },
  900_000,
);
