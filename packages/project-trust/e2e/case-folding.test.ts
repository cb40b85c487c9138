import { describe, expect, it } from "vitest";
import { because, obstacle } from "./support/obstacle.ts";
import { runProgram } from "./support/run-program.ts";

interface Found {
  /** The disk that folds case here; `null` where none does, and then why. */
  readonly by: string | null;
  readonly without?: readonly string[];
  readonly rows?: object;
}

const missing = obstacle("unshare", "mount", "umount", "truncate");
const found = missing === null ? await runProgram<Found>("case-folding", { mounts: true }) : null;
const reason = missing ?? (found?.by === null ? `no disk folds case here: ${found.without?.join("; ")}` : null);

describe.skipIf(reason !== null)(`a directory on a disk that folds case: ${found?.by}${because(reason)}`, () => {
  it("I47 is trusted by the name that is listed alone, and so is one below it", () => {
    expect(found?.rows).toMatchObject({ verdicts: ["granted", "alias", "granted", "alias", "alias"], leftOpen: 0 });
  });

  it("I47 has its one canonical spelling found from any other, which realpath(3) does not", () => {
    expect(found?.rows).toMatchObject({ canonical: [0, 0, 2, 2, 2], realpathKeeps: true });
  });
});
