import { ProtocolError } from "@holdfast/client/protocol";
import { isDiskFull } from "@holdfast/recovery-journal";
import { reasonOf } from "@holdfast/shared-process";
import type { Registry } from "../registry.ts";

/** What to say of a request whose records the disk does not take; `null` where it takes them. The registry goes on trying. */
export function unwritten(registry: Pick<Registry, "problem">, sessionId: string, what: string): ProtocolError | null {
  const problem = registry.problem(sessionId);
  if (problem === null) return null;
  const message = `${what} cannot be recorded: ${reasonOf(problem)}; it is tried again and goes on by itself`;
  const hint = `agent session show ${sessionId}`;
  return new ProtocolError(isDiskFull(problem) ? "disk_full" : "timeout", message, { hint });
}
