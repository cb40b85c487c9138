import { CodedError } from "../errors.ts";
import type { ProcessObserver, UnknownWhy } from "../types.ts";

/** Where nothing can prove an identity, everything is unknown and nothing is signalled. */
export function createBareObserver(why: UnknownWhy, reason: string): ProcessObserver {
  const verdict = { kind: "unknown", why } as const;
  const unsent = { kind: "not-sent", verdict } as const;
  return {
    capabilities: () => ({
      backend: "bare",
      reason,
      kernelIds: false,
      boundSignals: false,
      boundGroupSignals: false,
      exits: "none",
      exitStatus: false,
      peers: false,
    }),
    self: () => {
      throw new CodedError("identity_unreadable", `No process can be identified here: ${reason}`);
    },
    identify: () => verdict,
    verdict: () => verdict,
    open: () => verdict,
    adopt: () => verdict,
    peer: () => verdict,
    signal: () => unsent,
    signalGroup: () => unsent,
  };
}
