import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { execa } from "execa";

const USAGE = "usage: pnpm stress [--seconds N]\n";
const DEFAULT_SECONDS = "8";
const churn = fileURLToPath(new URL("../packages/shared-process/e2e/fixtures/churn.mjs", import.meta.url));

/** Whether hitting a bystander is a bug; the others state their rate, which is what they are known to lack. */
const strategies = {
  "pidfd by record": "safe",
  "pidfd held": "safe",
  "narrow held": "narrow",
  "narrow by record": "narrow",
  "process.kill": "unsafe",
} as const;

interface Row {
  readonly strategy: string;
  readonly sent: number;
  readonly recycled: number;
  readonly hit: number;
}

/** In a pid namespace of its own, so that nothing else on this machine can be hit. sh is process 1 there, and reaps. */
async function run(strategy: string, seconds: number): Promise<Row> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-stress-"));
  try {
    const spec = JSON.stringify({ seconds, orders: { [strategy]: "SIGHUP" }, directory });
    const inside = ["sh", "-c", '"$@"; exit $?', "sh", process.execPath, churn, spec];
    const { stdout } = await execa("unshare", ["--pid", "--fork", "--mount-proc", ...inside]);
    const [row]: readonly Row[] = JSON.parse(stdout);
    if (row === undefined) throw new Error(`no report of ${strategy}`);
    return row;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const lineOf = ({ strategy, sent, recycled, hit }: Row): string =>
  `${strategy.padEnd(18)} sent ${String(sent).padStart(6)}   recycled ${String(recycled).padStart(6)}   bystanders hit ${hit}\n`;

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { seconds: { type: "string", default: DEFAULT_SECONDS } } });
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) {
    process.stderr.write(USAGE);
    return 2;
  }
  let failed = false;
  for (const [strategy, kind] of Object.entries(strategies)) {
    const row = await run(strategy, seconds);
    process.stdout.write(lineOf(row));
    failed ||= kind === "safe" && row.hit > 0;
  }
  return failed ? 1 : 0;
}

process.exitCode = await main();
