import { because, obstacle, temporaryDirectory } from "../packages/recovery-journal/e2e/support/fixture.ts";
import { type Kind, kinds, runInjected } from "../packages/recovery-journal/e2e/support/injected.ts";
import { killRounds } from "../packages/recovery-journal/e2e/support/kill-rounds.ts";
import type { WriterLedger } from "../packages/recovery-journal/e2e/support/writer-ledger.ts";
import { type FileSystemName, needs, powerCuts } from "../packages/recovery-journal/e2e/support/power-cuts.ts";
import type { Target } from "./target.ts";

const KILLS = 200;
const CUTS = 100;

interface Count {
  readonly rounds: number;
  readonly acknowledged: number;
  /** What was acknowledged and not found, was ended and found again, was refused or asked by nobody and found. */
  readonly lost: readonly string[];
}

function report(name: string, { rounds, acknowledged, lost }: Count): boolean {
  const columns = [`rounds ${String(rounds).padStart(5)}`, `acknowledged ${String(acknowledged).padStart(7)}`];
  process.stdout.write(`${name.padEnd(18)} ${columns.join("   ")}   lost ${lost.length}\n`);
  for (const one of lost) process.stderr.write(`${name}: ${one}\n`);
  return lost.length === 0;
}

function countOf(rounds: number, ledger: WriterLedger): Count {
  const { acknowledged, violations, refusals } = ledger;
  return { rounds, acknowledged, lost: [...violations, ...refusals] };
}

function demand(name: string, commands: readonly string[]): void {
  const reason = obstacle(...commands);
  if (reason !== null) throw new Error(`${name} cannot run${because(reason)}`);
}

/** Writers of one journal that are killed anywhere in their work. */
export const journalKill: Target = async ({ rounds }) => {
  using root = temporaryDirectory();
  const count = rounds ?? KILLS;
  const ledger = await killRounds({ directory: `${root.path}/journal`, rounds: count });
  return report("journal-kill", countOf(count, ledger));
};

/** Power cuts of loop-mounted file systems under a writer. */
export const powerCut: Target = async ({ rounds }) => {
  let isFine = true;
  for (const fileSystem of ["ext4", "xfs"] satisfies readonly FileSystemName[]) {
    demand("power-cut", needs(fileSystem));
    using root = temporaryDirectory();
    const count = rounds ?? CUTS;
    const ledger = await powerCuts({ fileSystem, rounds: count, root: root.path });
    if (!report(`power-cut ${fileSystem}`, countOf(count, ledger))) isFine = false;
  }
  return isFine;
};

/** Every call of a writer's life fails once, each way. */
export const journalErrors: Target = async () => {
  demand("journal-errors", ["strace"]);
  let isFine = true;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant object
  for (const kind of Object.keys(kinds) as Kind[]) {
    const { calls } = await life(kind, null);
    const sum = { rounds: 0, acknowledged: 0, lost: [] as string[] };
    for (const errno of ["EIO", "ENOSPC"] as const) {
      for (let nth = 1; nth <= calls; nth += 1) {
        const { ledger, injected } = await life(kind, { kind, errno, nth });
        if (injected !== 1) throw new Error(`${errno} at ${kind} ${nth} was not injected`);
        sum.rounds += 1;
        sum.acknowledged += ledger.acknowledged;
        sum.lost.push(...ledger.violations.map((violation) => `${errno} at call ${nth}: ${violation}`));
      }
    }
    if (!report(`errors ${kind}`, sum)) isFine = false;
  }
  return isFine;
};

async function life(kind: Kind, injection: Parameters<typeof runInjected>[2]): ReturnType<typeof runInjected> {
  using root = temporaryDirectory();
  return await runInjected(root.path, kind, injection);
}
