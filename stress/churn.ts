import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import type { Target } from "./target.ts";

const program = fileURLToPath(new URL("../packages/shared-process/e2e/fixtures/churn.mjs", import.meta.url));

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
    const inside = ["sh", "-c", '"$@"; exit $?', "sh", process.execPath, program, spec];
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

/** Signals to processes whose numbers are soon others', each way to send for so many seconds: who is hit. */
export const churn: Target = async ({ seconds }) => {
  let isFine = true;
  for (const [strategy, kind] of Object.entries(strategies)) {
    const row = await run(strategy, seconds);
    process.stdout.write(lineOf(row));
    if (kind === "safe" && row.hit > 0) isFine = false;
  }
  return isFine;
};
