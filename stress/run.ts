import { parseArgs } from "node:util";
import { churn } from "./churn.ts";
import { journalErrors, journalKill, powerCut } from "./journal.ts";
import type { Target } from "./target.ts";

const targets: Readonly<Record<string, Target>> = {
  churn,
  "journal-errors": journalErrors,
  "journal-kill": journalKill,
  "power-cut": powerCut,
};
const DEFAULT_SECONDS = "8";
const HELP = `usage: pnpm stress [--seconds N] [--rounds N] [TARGET…]

What tests do for seconds, for minutes, as root on Linux: prints counts, and exits 1 when what must be 0 is not.

  churn           signals to processes whose numbers are soon others': who is hit; --seconds N for each way to send (8)
  journal-errors  each call of a journal's writer fails once by EIO and once by ENOSPC
  journal-kill    a journal's writers are killed anywhere in their work; --rounds N (200)
  power-cut       the power of ext4 and of XFS is cut under a journal's writer; --rounds N of each (100)

Without a TARGET, all of them.
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      seconds: { type: "string", default: DEFAULT_SECONDS },
      rounds: { type: "string" },
      help: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const seconds = Number(values.seconds);
  const rounds = values.rounds === undefined ? null : Number(values.rounds);
  const names = positionals.length === 0 ? Object.keys(targets) : positionals;
  const chosen = names.map((name) => targets[name]).filter((target) => target !== undefined);
  const isRight = seconds > 0 && (rounds === null || (Number.isInteger(rounds) && rounds > 0));
  if (values.help || !isRight || chosen.length < names.length) {
    (values.help ? process.stdout : process.stderr).write(HELP);
    return values.help ? 0 : 2;
  }
  let isFine = true;
  for (const target of chosen) if (!(await target({ seconds, rounds }))) isFine = false;
  return isFine ? 0 : 1;
}

process.exitCode = await main();
