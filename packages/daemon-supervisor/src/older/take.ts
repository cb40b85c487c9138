import { DESCRIPTOR_VERSION } from "../descriptor.ts";
import type { Descriptor } from "../descriptor.ts";
import type { Context } from "../effects/context.ts";
import type { StopIntent } from "../lifecycle/state.ts";
import type { OlderRecord } from "./form.ts";
import { proveOlder } from "./prove.ts";

/** An older record whose process is proven gone, or who rests without one. */
export interface OlderEnd {
  readonly failed: boolean;
  readonly rests: boolean;
  readonly intent: StopIntent | null;
}

export type TakenOlder =
  | { readonly kind: "descriptor"; readonly descriptor: Descriptor }
  | { readonly kind: "ended"; readonly end: OlderEnd }
  | { readonly kind: "damaged"; readonly reason: string; readonly sessionId: string };

/**
 * Takes over what an older record names, where that is proven. Its worker speaks another program's protocol: it is listed, ends by
 * itself or is stopped by its identity, and nothing of its session is launched beside it.
 */
export function takeOlder(
  { observer, ids, clock }: Pick<Context, "observer" | "ids" | "clock">,
  { sessionId, record }: { readonly sessionId: string; readonly record: OlderRecord },
): TakenOlder {
  const proof = proveOlder(observer, record);
  if (proof.kind === "quarantine") return { kind: "damaged", sessionId, reason: proof.reason };
  const { lifecycle, stop } = record;
  const intent = stop && { stopId: ids.newGeneration(), force: false, ...stop };
  if (proof.kind !== "current")
    return { kind: "ended", end: { failed: lifecycle === "failed", rests: proof.kind === "rest", intent } };
  const process = {
    generation: record.generation ?? ids.newGeneration(),
    identity: proof.identity,
    socketPath: record.socketPath,
    token: record.token,
    // It marked nothing that it started; nobody carries this one.
    marker: ids.newToken(18),
    lifelinePath: null,
    cgroupPath: null,
    protocol: null,
  };
  return {
    kind: "descriptor",
    descriptor: {
      schemaVersion: DESCRIPTOR_VERSION,
      sessionId,
      // Also where it says failed: ours are so only when nothing runs any more.
      lifecycle: "ready",
      epoch: 0,
      process,
      launches: [],
      ...(intent ? { stop: intent } : {}),
      updatedAt: new Date(clock.now()).toISOString(),
    },
  };
}
