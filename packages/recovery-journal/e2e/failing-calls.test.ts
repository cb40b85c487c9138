import { describe, expect, it } from "vitest";
import { because, obstacle, temporaryDirectory } from "./support/fixture.ts";
import { type Injected, type Injection, type Kind, kinds, runInjected } from "./support/injected.ts";

/** Of each kind and error, spread over a writer's life; `pnpm stress journal-errors` takes them all. */
const MAX_RUNS = 3;
const TIMEOUT_MS = 180_000;

const reason = obstacle("strace");

async function run(kind: Kind, injection: Injection | null): Promise<Injected> {
  using root = temporaryDirectory();
  return await runInjected(root.path, kind, injection);
}

/** Up to `MAX_RUNS` of 1 … n, the first and the last among them. */
function spread(n: number): readonly number[] {
  const runs = Math.min(n, MAX_RUNS);
  return Array.from({ length: runs }, (_, index) => 1 + Math.round((index * (n - 1)) / Math.max(1, runs - 1)));
}

describe.skipIf(reason !== null)(`a call of the kernel that fails once${because(reason)}`, () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant object
  it.each(Object.keys(kinds) as Kind[])(
    "I69 I70 I141 loses nothing that was acknowledged, and what was refused is not there: %s",
    async (kind) => {
      const { calls, ledger } = await run(kind, null);
      expect([ledger.violations, ledger.refusals, ledger.codes.size]).toEqual([[], [], 0]);
      // Or the sweep passes by the calls of a new segment.
      expect(ledger.compactions).toBeGreaterThan(0);
      for (const errno of ["EIO", "ENOSPC"] as const) {
        for (const nth of spread(calls)) {
          const failing = await run(kind, { kind, errno, nth });
          const where = `${errno} at ${kind} ${nth}`;
          expect([where, failing.injected, failing.ledger.violations]).toEqual([where, 1, []]);
        }
      }
    },
    TIMEOUT_MS,
  );

  it.each(["EIO", "ENOSPC"] as const)(
    "I69 a flush that fails poisons the journal for good, and it can be opened again in the same process: %s",
    async (errno) => {
      const { ledger } = await run("fdatasync", { kind: "fdatasync", errno, nth: 2 });
      expect([...ledger.codes.keys()]).toEqual(["journal_poisoned"]);
      expect(ledger.stops).toEqual([{ stopped: "poisoned", late: "journal_poisoned" }]);
      expect(ledger.violations).toEqual([]);
      expect(ledger.acknowledged).toBeGreaterThan(0);
    },
  );
});
