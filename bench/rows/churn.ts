import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bench, Benchmark } from "../support/bench.ts";
import { outputOf } from "../support/children.ts";

const nameOf = (strategy: string): string => `wrong signals under pid churn, ${strategy}`;
const program = fileURLToPath(new URL("../../packages/shared-process/e2e/fixtures/churn.mjs", import.meta.url));

/** Those of one group run at once, each with a signal of its own, by which its victims are told. */
const groups: readonly Readonly<Record<string, string>>[] = [
  { "pidfd by record": "SIGHUP", "pidfd held": "SIGTERM" },
  { "narrow by record": "SIGHUP", "narrow held": "SIGTERM", "process.kill": "SIGUSR1" },
];
/** What the kernel binds to its process hits nobody else. */
const isBound = (strategy: string): boolean => strategy.startsWith("pidfd");

export const churnBenchmarks: readonly Benchmark[] = groups.map((orders) => ({
  names: Object.keys(orders).map(nameOf),
  run: (bench) => measure(bench, orders),
}));

interface Row {
  readonly strategy: string;
  readonly sent: number;
  readonly recycled: number;
  readonly hit: number;
}

async function measure(bench: Bench, orders: Readonly<Record<string, string>>): Promise<void> {
  const seconds = bench.quick ? 3 : 8;
  for (const { strategy, sent, recycled, hit } of await churn(orders, seconds))
    bench.report({
      name: nameOf(strategy),
      unit: "signals",
      value: hit,
      ...(isBound(strategy) && { target: { of: "value", atMost: 0 } as const }),
      note: `of ${sent} sent in ${seconds} s; ${recycled} times the number was another's`,
    });
}

/** In a pid namespace of its own, so that nothing else on this machine can be hit. sh is process 1 there, and reaps. */
async function churn(orders: Readonly<Record<string, string>>, seconds: number): Promise<readonly Row[]> {
  const directory = mkdtempSync(join(tmpdir(), "hf-bench-churn-"));
  try {
    const spec = JSON.stringify({ seconds, orders, directory });
    const inside = ["sh", "-c", '"$@"; exit $?', "sh", process.execPath, program, spec];
    const asRoot = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
    const flags = [...asRoot, "--pid", "--fork", "--kill-child", "--mount-proc"];
    const rows: readonly Row[] = JSON.parse(await outputOf(["unshare", ...flags, ...inside]));
    return rows;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
