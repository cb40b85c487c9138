import { WORKER_PROTOCOL_VERSION } from "@holdfast/session-worker/transport";
import type { WorkerProcess } from "./lifecycle/state.ts";

const WAY_OUT = "stop it, then resume the session";

/** Why a worker that may well live cannot be spoken to (I26): it stays listed, and is stopped by its identity. */
export const unspoken = {
  older: `its worker is one of an older program, which this daemon cannot speak to: ${WAY_OUT}`,
  form: `its worker answers in a form that this daemon does not know: ${WAY_OUT}`,
  version: (protocol: number | null): string =>
    `its worker speaks ${protocol === null ? "another protocol" : `protocol ${protocol}`}, this daemon ${WORKER_PROTOCOL_VERSION}: ${WAY_OUT}`,
  refused: (why: string): string => `its worker refuses this daemon (${why}): only a stop ends it`,
} as const;

/** What its record alone tells. */
export function mismatchOf({ protocol }: Pick<WorkerProcess, "protocol">): string | null {
  if (protocol === null) return unspoken.older;
  return protocol === WORKER_PROTOCOL_VERSION ? null : unspoken.version(protocol);
}
