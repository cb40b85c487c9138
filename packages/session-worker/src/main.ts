import { writeSync } from "node:fs";
import { safeParse } from "zod/mini";
import { awaitGate, systemClock } from "@holdfast/shared-process";
import { WORKER_PROTOCOL_VERSION, workerOrdersSchema } from "./transport/messages.ts";
import type { WorkerOrders } from "./transport/messages.ts";
import { Worker } from "./worker/worker.ts";
import { systemWorld } from "./worker/world.ts";

/** Exit statuses of the worker program. */
const DONE = 0;
const NOT_LET_THROUGH = 3;

/**
 * The worker program: waits at its gate (descriptor 3), serves its session until it is stopped, and resolves with its exit status.
 * Descriptor 4, the lifeline, simply stays open for as long as the process lives.
 */
export async function runWorker(): Promise<number> {
  const orders = parseOrders(await awaitGate());
  // Without a word of a supervisor that recorded us we are unknown to everybody and must not stay.
  if (!orders) return NOT_LET_THROUGH;
  // Terminals come and go; only a stop ends a worker.
  for (const signal of ["SIGHUP", "SIGINT"] as const) process.on(signal, () => undefined);
  const worker = new Worker({ orders, world: { ...systemWorld(), say } });
  process.on("SIGTERM", () => worker.close("SIGTERM"));
  await worker.listen();
  await worker.ended;
  return DONE;
}

/** The worker's log is its standard error. */
function say(text: string): void {
  try {
    writeSync(2, `${new Date(systemClock.now()).toISOString()} ${text}\n`);
  } catch {
    // A full disk: what is said is lost, and the session goes on.
  }
}

function parseOrders(line: string | null): WorkerOrders | null {
  if (line === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // A message that is none is the same as no word.
    return null;
  }
  const parsed = safeParse(workerOrdersSchema, value);
  return parsed.success && parsed.data.protocol === WORKER_PROTOCOL_VERSION ? parsed.data : null;
}
