import { chmodSync } from "node:fs";
import { expect, it } from "vitest";
import { Temporary } from "../src/temporary.testing.ts";
import { because, obstacle } from "./support/obstacle.ts";
import { runProgram } from "./support/run-program.ts";

interface Counts {
  readonly lazily: number;
  readonly one: number;
  readonly few: readonly string[];
  readonly all: number;
  readonly revoked: number;
  readonly disposed: number;
}

const noLimit = obstacle("prlimit");
it.skipIf(noLimit !== null)(
  `I122 one descriptor for each bound directory, none at the end; none to be had denies for the moment${because(noLimit)}`,
  async () => {
    const { few, ...counts } = await runProgram<Counts>("descriptors", { under: ["prlimit", "--nofile=128"] });
    expect(counts).toEqual({ lazily: 0, one: 1, all: 41, revoked: 1, disposed: 0 });
    // From none on, one more at each try.
    expect([few[0], few.at(-1)]).toEqual(["unreadable,unreadable", "granted,file"]);
    expect(few).toContain("granted,unreadable");
  },
);

const noUser = obstacle("setpriv");
it.skipIf(noUser !== null)(
  `I47 trusts below a directory that may be entered and not listed, and not in one that may not${because(noUser)}`,
  async () => {
    using temporary = new Temporary();
    for (const name of ["open", "Ünïcode", "1", "closed", "below-closed/project"]) temporary.directory(name);
    for (const name of ["closed", "below-closed"]) chmodSync(temporary.at(name), 0o700);
    chmodSync(temporary.path, 0o711);
    expect(await runProgram("unlistable", { uid: 65_534, args: [temporary.path] })).toEqual({
      verdicts: ["granted", "granted", "granted", "unreadable", "unreadable"],
      listing: "refused",
      leftOpen: 0,
    });
  },
);
