import { parseArgs } from "node:util";
import { churn } from "./churn.ts";
import { crash } from "./crash.ts";
import { journalErrors, journalKill, powerCut } from "./journal.ts";
import { moments } from "./moments.ts";
import { requests } from "./requests.ts";
import { rounds as randomRounds } from "./rounds.ts";
import type { Target } from "./target.ts";

const targets: Readonly<Record<string, Target>> = {
  churn,
  crash,
  "journal-errors": journalErrors,
  "journal-kill": journalKill,
  moments,
  "power-cut": powerCut,
  requests,
  rounds: randomRounds,
};
const DEFAULT_SECONDS = "8";
const HELP = `usage: pnpm stress [--seconds N] [--rounds N] [--seed N] [TARGET…]

What tests do for seconds, for minutes, as root on Linux: prints counts, and exits 1 when what must be 0 is not.

  churn           signals to processes whose numbers are soon others': who is hit; --seconds N for each way to send (8)
  crash           made-up workloads on a simulated disk, with a power cut after every call, and again in the recovery, a
                  failing call and a second writer at every call; --rounds N workloads (4), from --seed N on (1)
  journal-errors  each call of a journal's writer fails once by EIO and once by ENOSPC
  journal-kill    a journal's writers are killed anywhere in their work; --rounds N (200)
  moments         a supervisor, or a forced stop, is killed before and after every call to its world in each of its ways
  power-cut       the power of ext4 and of XFS is cut under a journal's writer; --rounds N of each (100)
  requests        requests of four sessions, each once, while clients and supervisors are killed; --rounds N of each session
                  (4), --seed N (1)
  rounds          random requests of sessions while supervisor, worker or both are killed; --rounds N (200), --seed N (1)

Without a TARGET, all of them.
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      seconds: { type: "string", default: DEFAULT_SECONDS },
      rounds: { type: "string" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const seconds = Number(values.seconds);
  const rounds = values.rounds === undefined ? null : Number(values.rounds);
  const seed = Number(values.seed);
  const names = positionals.length === 0 ? Object.keys(targets) : positionals;
  const chosen = names.map((name) => targets[name]).filter((target) => target !== undefined);
  const isRight = seconds > 0 && isCount(rounds ?? 1) && isCount(seed);
  if (values.help || !isRight || chosen.length < names.length) {
    (values.help ? process.stdout : process.stderr).write(HELP);
    return values.help ? 0 : 2;
  }
  let isFine = true;
  for (const target of chosen) if (!(await target({ seconds, rounds, seed }))) isFine = false;
  return isFine ? 0 : 1;
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value > 0;
}

process.exitCode = await main();
