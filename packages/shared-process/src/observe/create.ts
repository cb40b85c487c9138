import { systemClock } from "../clock.ts";
import { createExitPoller } from "../exits/polling.ts";
import type { PidfdLibrary } from "../library/pidfd.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import type { Clock, ProcessObserver } from "../types.ts";
import { createBareObserver } from "./bare.ts";
import { createLinuxObserver, type LibraryPolicy } from "./linux.ts";
import type { SignalMode } from "./rules.ts";

export interface ObserverOptions {
  /** What to do where only a check directly before the kill is possible. `refuse`, the default, sends nothing. */
  readonly mode?: SignalMode;
  /** When the optional library is loaded (10 to 15 ms, 3.7 MB); by default with the first call that it improves. */
  readonly library?: LibraryPolicy;
  readonly ports?: ProcessPorts;
  /** The system calls on pidfds of a made-up machine; with `ports` the real ones are never used. */
  readonly pidfds?: PidfdLibrary;
  readonly clock?: Clock;
}

/** The strongest back-end that this machine has, found by probing. */
export function createObserver(options: ObserverOptions = {}): ProcessObserver {
  const { mode = "refuse", clock = systemClock, ports = systemPorts, library = "at-first-use" } = options;
  const deps = { mode, clock, ports, poller: createExitPoller(clock) };
  const given = options.pidfds ?? (options.ports === undefined ? undefined : null);
  if (ports.platform === "linux") return createLinuxObserver(deps, { policy: library, pidfds: given });
  return createBareObserver("unsupported", `${ports.platform} has no back-end yet`);
}
