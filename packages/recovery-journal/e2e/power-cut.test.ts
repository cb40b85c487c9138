import { describe, expect, it } from "vitest";
import { because, obstacle, temporaryDirectory } from "./support/fixture.ts";
import { type FileSystemName, needs, powerCuts } from "./support/power-cuts.ts";

/** `pnpm stress power-cut` takes 100. */
const ROUNDS = 4;
/** Each of them loses records: nothing is flushed but what the file system flushes by itself. */
const UNFLUSHED_ROUNDS = 2;
const TIMEOUT_MS = 120_000;

const all: readonly FileSystemName[] = ["ext4", "xfs"];

describe.each(all)("a power cut anywhere in a writer's work: %s", (fileSystem) => {
  const reason = obstacle(...needs(fileSystem));

  it.skipIf(reason !== null)(
    `I69 I70 I93 leaves all that was acknowledged, again and again${because(reason)}`,
    async () => {
      using root = temporaryDirectory();
      const ledger = await powerCuts({ fileSystem, rounds: ROUNDS, root: root.path });
      expect([ledger.violations, ledger.refusals, [...ledger.codes]]).toEqual([[], [], []]);
      expect(ledger.acknowledged).toBeGreaterThan(10 * ROUNDS);
    },
    TIMEOUT_MS,
  );

  it.skipIf(reason !== null)(
    `loses records of a writer that does not flush: it is a cut${because(reason)}`,
    async () => {
      using root = temporaryDirectory();
      const ledger = await powerCuts({ fileSystem, rounds: UNFLUSHED_ROUNDS, root: root.path, without: "fdatasync" });
      expect(ledger.violations.some((violation) => violation.includes("lost"))).toBe(true);
    },
    TIMEOUT_MS,
  );
});
