import { readFileSync } from "node:fs";
import { join } from "node:path";
import { WriterLedger } from "./writer-ledger.ts";
import { runWriter, writerCommand } from "./writer-run.ts";

/** The calls that fail, by name and by what strace calls them. Node itself makes none of them, or on other files. */
export const kinds = {
  pwrite64: "pwrite64",
  fdatasync: "fdatasync",
  fsync: "fsync",
  link: "?link,linkat",
  unlink: "?unlink,unlinkat",
  // Of the journal's directory: to list it, and to sync it.
  openat: "openat",
} as const;
export type Kind = keyof typeof kinds;

/** Few enough records for every call to have its turn, and long enough ones for the journal to be compacted meanwhile. */
const STEPS = 5;
const SEED = 4;
const DETAIL_BYTES = 12_000;

export interface Injection {
  readonly kind: Kind;
  readonly errno: "EIO" | "ENOSPC";
  /** Counted by thread: the writer flushes on its own. */
  readonly nth: number;
}

export interface Injected {
  readonly ledger: WriterLedger;
  /** Calls that failed for the test's sake: 1, or the rest proves nothing. */
  readonly injected: number;
  readonly calls: number;
}

/** A writer's whole life under strace, in a directory of its own, in which one call fails; with `null`, none. */
export async function runInjected(root: string, kind: Kind, injection: Injection | null): Promise<Injected> {
  const ledger = new WriterLedger();
  const directory = join(root, "journal");
  const log = join(root, "strace.log");
  const plan = { directory, generation: "g", seed: SEED, steps: STEPS, engine: "inline", detailBytes: DETAIL_BYTES };
  const where = kind === "openat" ? ["-P", directory] : [];
  const fault =
    injection === null ? [] : ["-e", `inject=${kinds[kind]}:error=${injection.errno}:when=${injection.nth}`];
  const trace = ["strace", "-f", "-qq", "-o", log, ...where, "-e", `trace=${kinds[kind]}`, ...fault];
  await runWriter([...trace, ...writerCommand(plan)], ledger);
  const lines = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.includes("("));
  return { ledger, injected: lines.filter((line) => line.includes("(INJECTED)")).length, calls: lines.length };
}
