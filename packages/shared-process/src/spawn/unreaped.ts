import { NO_SUCH_PID, sendBy } from "../observe/rules.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import type { Signal, SignalOutcome } from "../types.ts";

/** A child of this process. While both are null it has not been reaped, so its number cannot have been given away. */
export interface UnreapedChild {
  readonly pid: number;
  readonly exitCode: number | null;
  readonly signalCode: string | null;
}

/**
 * Signals an own child (`target` its pid) or the group it leads (`target` minus its pid), which it anchors even as a
 * zombie (I97).
 *
 * libuv reaps all ended children first and runs their exit callbacks after, so inside one callback the fields of the
 * next child are stale.
 * In the check phase all callbacks of the batch have run: what is null there is really unreaped.
 */
export function signalUnreaped(
  child: UnreapedChild,
  target: number,
  signal: Signal,
  ports: ProcessPorts = systemPorts,
): Promise<SignalOutcome> {
  return new Promise((resolve) => {
    setImmediate(() => resolve(signalUnreapedNow(child, target, { signal, ports })));
  });
}

/** Only from the check phase of the event loop. */
export function signalUnreapedNow(
  child: UnreapedChild,
  target: number,
  attempt: { readonly signal: Signal; readonly ports: ProcessPorts },
): SignalOutcome {
  if (child.exitCode !== null || child.signalCode !== null) return { kind: "not-sent", verdict: NO_SUCH_PID };
  return sendBy("unreaped-child", attempt.signal, () => attempt.ports.kill(target, attempt.signal));
}
