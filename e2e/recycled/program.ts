// Runs in a pid namespace of its own (see proof.ts). Arguments: an empty directory, the program `agent`, the directory
// of this file, and the part of the plan to run. Prints one line for each case.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runDead } from "./dead.ts";
import { runLeftover } from "./leftover.ts";
import { runLive } from "./live.ts";
import { runMidway } from "./midway.ts";
import { type Outcome, plan, type PlanPart } from "./plan.ts";
import { sessionCount, type Run, runAt } from "./run.ts";

const [, , directory = "", agent = "", fixtures = "", name = ""] = process.argv;

const tell = (outcome: Outcome): void => void process.stdout.write(`${JSON.stringify(outcome)}\n`);

/** Of a home that commands are run on as a whole: sessions with work in progress. */
const HOME_SIZE = 1;

const runners: Readonly<Record<PlanPart, (run: Run) => Promise<void>>> = {
  dead: async (run) => await runDead(run, plan.dead, Math.max(...plan.dead.map(sessionCount))),
  deadHome: async (run) => await runDead(run, plan.deadHome, HOME_SIZE),
  live: async (run) => await runLive(run, plan.live),
  leftover: async (run) => await runLeftover(run, plan.leftover),
  midway: async (run) => {
    for (const round of plan.midway) await runMidway(run, round);
  },
};

const runPart = Object.entries(runners).find(([part]) => part === name)?.[1];
if (!runPart) throw new Error(`no part ${name}`);
const root = join(directory, "r");
mkdirSync(root);
await runPart(runAt({ agent, root, fixtures, tell }));
process.exit(0);
