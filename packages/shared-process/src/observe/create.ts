import { type ProcessPorts, systemPorts } from "../ports.ts";
import type { ProcessObserver } from "../types.ts";
import { createBareObserver } from "./bare.ts";
import { createNarrowObserver, type SignalMode } from "./narrow.ts";
import { whyProcIsBlind } from "./observe.ts";

export interface ObserverOptions {
  /** What to do where only a check directly before the kill is possible. `refuse`, the default, sends nothing. */
  readonly mode?: SignalMode;
  readonly ports?: ProcessPorts;
}

/** Probes what this machine can prove and returns the strongest back-end. */
export function createObserver(options: ObserverOptions = {}): ProcessObserver {
  const ports = options.ports ?? systemPorts;
  if (ports.platform !== "linux") return createBareObserver("unsupported", `${ports.platform} has no back-end yet`);
  const blind = whyProcIsBlind(ports);
  if (blind === "no-proc") return createBareObserver(blind, "/proc is not mounted");
  // With a /proc of another namespace kill(2) can still prove an end, so that stays with the narrow back-end.
  return createNarrowObserver(ports, options.mode ?? "refuse", "no pidfd library is loaded");
}
