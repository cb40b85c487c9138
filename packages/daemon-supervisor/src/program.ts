import { awaitGate, closeInherited } from "@holdfast/shared-process";
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

void main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
