import { awaitGate, closeInherited, reasonOf } from "@holdfast/shared-process";
import { supervisorOrdersSchema } from "@holdfast/session-worker/transport";
import { runSupervisor } from "./main.ts";

/** The detached supervisor: waits at its gate, so that a starter that dies leaves nothing behind. */
async function main(): Promise<number> {
  closeInherited();
  const word = await awaitGate();
  if (word === null) return 0;
  const orders = supervisorOrdersSchema.parse(JSON.parse(word));
  return runSupervisor({ ...orders, foreground: false });
}

/** One line, the last: the command line shows it of a start that failed (I151). Above it, of a bug alone, where it is. */
function fail(error: unknown): void {
  const isKnown = error instanceof Error && "code" in error;
  const where = isKnown || !(error instanceof Error) ? "" : `${error.stack ?? ""}\n`;
  process.stderr.write(`${where}${reasonOf(error).replaceAll(/\s+/g, " ")}\n`);
  process.exit(1);
}

process.on("uncaughtException", fail);
void main().then((code) => process.exit(code), fail);
