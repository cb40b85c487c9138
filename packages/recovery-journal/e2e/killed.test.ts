import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "./support/fixture.ts";
import { killRounds } from "./support/kill-rounds.ts";

/** `pnpm stress journal-kill` takes 200. */
const ROUNDS = 10;
const TIMEOUT_MS = 120_000;

describe("a writer that is killed anywhere in its work", () => {
  it(
    "I70 I93 I140 leaves all that it acknowledged to the next, again and again",
    async () => {
      using root = temporaryDirectory();
      const ledger = await killRounds({ directory: `${root.path}/journal`, rounds: ROUNDS });
      expect([ledger.violations, ledger.refusals, [...ledger.codes]]).toEqual([[], [], []]);
      expect(ledger.acknowledged).toBeGreaterThan(10 * ROUNDS);
      // Each opening made one, and there were compactions too.
      expect(ledger.segment).toBeGreaterThan(ROUNDS + 2);
    },
    TIMEOUT_MS,
  );
});
