import { systemClock } from "../clock.ts";
import { createExitPoller } from "../exits/polling.ts";
import type { PidfdLibrary } from "../library/pidfd.ts";
import { type FoundPidfds, systemPidfds } from "../library/system.ts";
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
  if (ports.platform !== "linux") return createBareObserver("unsupported", `${ports.platform} has no back-end yet`);
  const isReal = options.pidfds === undefined && options.ports === undefined;
  const findPidfds = isReal ? systemPidfds : (): FoundPidfds => givenPidfds(options.pidfds);
  return createLinuxObserver(deps, { policy: library, findPidfds });
}

function givenPidfds(pidfds: PidfdLibrary | undefined): FoundPidfds {
  if (pidfds !== undefined) return { kind: "found", pidfds };
  return { kind: "absent", reason: "no pidfd library is given", passing: false };
}
