import { ProtocolError } from "@holdfast/client/protocol";
import { isDiskFull } from "@holdfast/recovery-journal";
import { reasonOf } from "@holdfast/shared-process";
import type { Millis } from "../lifecycle/state.ts";
import type { Registry } from "../registry.ts";

/** A disk that stands still longer than that is said; nothing waits for it for ever. */
const END_WRITTEN_MS = 10 * 60_000;

/** What is in no record yet ends with the daemon that has it in memory. */
const WHILE_IT_LIVES =
  "this daemon tries it again for as long as it lives: repeat the request under the same id to be sure";
const hintFor = (sessionId: string): string => `agent session show ${sessionId}`;

/** What to say of a request whose records the disk does not take; `null` where it takes them. The registry goes on trying. */
export function unwritten(registry: Pick<Registry, "problem">, sessionId: string, what: string): ProtocolError | null {
  const problem = registry.problem(sessionId);
  if (problem === null) return null;
  const message = `${what} cannot be recorded: ${reasonOf(problem)}; ${WHILE_IT_LIVES}`;
  return new ProtocolError(isDiskFull(problem) ? "disk_full" : "timeout", message, { hint: hintFor(sessionId) });
}

/** What to say of a request that has taken effect here and is not recorded, or not over, when it is to be answered. */
export const goesOn = (registry: Pick<Registry, "problem">, sessionId: string, what: string): ProtocolError =>
  unwritten(registry, sessionId, what) ??
  new ProtocolError("timeout", `${what} takes long to be written; ${WHILE_IT_LIVES}`, { hint: hintFor(sessionId) });

/**
 * Waits until a registration that ends has written its end: it would be written over whatever comes next, and with it the next worker's
 * record would go (I17). Throws when that takes too long; returns when somebody has registered the session anew.
 */
export async function endWritten(
  registry: Pick<Registry, "problem" | "until" | "newest">,
  sessionId: string,
  what: string,
  timeoutMs: Millis = END_WRITTEN_MS,
): Promise<void> {
  const over = await registry.until(sessionId, (state) => state === null, timeoutMs);
  if (over !== "timeout" || registry.newest(sessionId) !== null) return;
  throw goesOn(registry, sessionId, what);
}
