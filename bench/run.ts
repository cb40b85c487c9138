import { cpus, tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { benchmarks } from "./benchmarks.ts";
import { Bench } from "./support/bench.ts";
import { isBuilt } from "./support/built.ts";
import { endChildren } from "./support/children.ts";
import { closeHomes } from "./support/home.ts";
import { tableOf } from "./support/table.ts";

const USAGE = "usage: pnpm bench [--json] [--quick] [--list] [FILTER]\n";
const INTERRUPTED_EXIT = 130;

/** Ctrl-C ends what was started before it ends the run. */
function endOnSignals(): void {
  let ending = false;
  const onSignal = (): void => {
    if (ending) return;
    ending = true;
    process.stderr.write("ending what was started\n");
    void endChildren()
      .then(closeHomes)
      .finally(() => process.exit(INTERRUPTED_EXIT));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { json: { type: "boolean" }, quick: { type: "boolean" }, list: { type: "boolean" } },
    allowPositionals: true,
  });
  const { json = false, quick = false, list = false } = values;
  const filter = positionals.join(" ");
  if (list) {
    process.stdout.write(`${benchmarks.flatMap(({ names }) => names).join("\n")}\n`);
    return 0;
  }
  if (!isBuilt()) {
    process.stderr.write("not built yet; run `pnpm build` first\n");
    return 1;
  }
  endOnSignals();
  const bench = new Bench({ quick, filter });
  const failures: { readonly names: readonly string[]; readonly reason: string }[] = [];
  for (const { names, run } of benchmarks.filter((each) => bench.wants(...each.names))) {
    bench.say(names.filter((name) => bench.wants(name)).join(", "));
    try {
      await run(bench);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      failures.push({ names, reason });
      bench.say(`  not measured: ${reason}`);
    }
  }
  await endChildren();
  await closeHomes();
  const machine = { at: new Date().toISOString(), node: process.version, cores: cpus().length, directory: tmpdir() };
  if (json) {
    process.stdout.write(`${JSON.stringify({ schemaVersion: 1, ...machine, quick, rows: bench.rows, failures })}\n`);
  } else {
    const { at, node, cores } = machine;
    process.stdout.write(`${at}, Node ${node}, ${cores} cores${quick ? ", --quick" : ""}\n\n${tableOf(bench.rows)}\n`);
    for (const { names, reason } of failures) process.stdout.write(`not measured: ${names.join(", ")}: ${reason}\n`);
  }
  return failures.length > 0 ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  process.exitCode = 2;
}
