import { engines } from "./fixture.ts";
import { WriterLedger } from "./writer-ledger.ts";
import { runWriter, writerCommand, WriterRun } from "./writer-run.ts";

export interface KillRounds {
  /** Of the journal; made by the first writer. */
  readonly directory: string;
  readonly rounds: number;
}

/** Up to this many lines a writer may say before it is met; the first few are those of its start. */
const MAX_LINES = 600;
const MAX_MORE_MS = 4;

/** They take turns on one journal. */
export const engineOf = (round: number): string => engines[round % engines.length] ?? engines[0];

/** Where in its work a writer is met. */
export async function anywhere(writer: WriterRun): Promise<void> {
  await writer.reaches(1 + Math.floor(Math.random() * MAX_LINES), Math.random() * MAX_MORE_MS);
}

/** One journal, and in each round a writer that goes on where the one before was killed. The last one closes it. */
export async function killRounds({ directory, rounds }: KillRounds): Promise<WriterLedger> {
  const ledger = new WriterLedger();
  const plan = (round: number, steps: number | null): readonly string[] =>
    writerCommand({ directory, generation: `g${round}`, seed: round, steps, engine: engineOf(round) });
  for (let round = 1; round <= rounds; round += 1) {
    const writer = new WriterRun(plan(round, null), ledger);
    await anywhere(writer);
    writer.signal("SIGKILL");
    const { code, stderr } = await writer.ended();
    if (code !== "SIGKILL") throw new Error(`the writer ended by ${code}: ${stderr}`);
  }
  await runWriter(plan(rounds + 1, 1), ledger);
  return ledger;
}
