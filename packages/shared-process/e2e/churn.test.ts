import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { baseEnv, fixture, temporaryDirectory } from "./harness.ts";

const SECONDS = 4;

/** Each signal is of one strategy alone, so that a bystander's end tells by whom it was hit. */
const orders = { "pidfd by record": "SIGHUP", "pidfd held": "SIGTERM", "process.kill": "SIGUSR1" };

interface Row {
  readonly strategy: string;
  readonly sent: number;
  /** Attempts at which the number was another's. */
  readonly recycled: number;
  readonly hit: number;
}

describe("processes that end all the time, and whose numbers are at once others'", () => {
  it("I131 are reached by pidfd, and no bystander ever is", () => {
    const spec = JSON.stringify({ seconds: SECONDS, orders, directory: temporaryDirectory() });
    // sh is process 1 there, because node as process 1 would not reap what others leave.
    const inside = ["sh", "-c", '"$@"; exit $?', "sh", process.execPath, fixture("churn.mjs"), spec];
    const args = ["--pid", "--fork", "--mount-proc", ...inside];
    const run = spawnSync("unshare", args, { env: baseEnv, encoding: "utf8", timeout: 30_000 });
    expect(run.stderr).toBe("");
    const rows: readonly Row[] = JSON.parse(run.stdout);
    const byName = Object.fromEntries(rows.map((row) => [row.strategy, row]));
    expect(byName).toMatchObject({ "pidfd by record": { hit: 0 }, "pidfd held": { hit: 0 } });
    // Or the rest proves nothing.
    expect(byName["pidfd by record"]?.sent).toBeGreaterThan(10);
    expect(byName["pidfd held"]?.sent).toBeGreaterThan(10);
    expect(rows.reduce((sum, { recycled }) => sum + recycled, 0)).toBeGreaterThan(10);
  });
});
