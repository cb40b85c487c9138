import { MAINTENANCE_TIMEOUT_MS } from "@holdfast/client/protocol";
import { systemClock } from "@holdfast/shared-process";
import { ownerState } from "../offline/owner.ts";

const POLL_MS = 50;

/**
 * While a home is being stopped by force nobody else can have it. True when that is over, or the process that did it is gone:
 * then the home can be claimed; false when it takes too long.
 */
export async function maintenanceIsOver(home: string, timeoutMs = MAINTENANCE_TIMEOUT_MS): Promise<boolean> {
  const until = systemClock.monotonic() + timeoutMs;
  while (isMaintained(home)) {
    if (systemClock.monotonic() >= until) return false;
    await new Promise<void>((resolve) => void systemClock.setTimer(POLL_MS, resolve));
  }
  return true;
}

function isMaintained(home: string): boolean {
  const owner = ownerState(home);
  return owner.kind === "alive" && owner.record.phase === "maintenance";
}
