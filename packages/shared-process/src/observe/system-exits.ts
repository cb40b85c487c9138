import { ExitNotice } from "../exits/notice.ts";
import { createExitPoller } from "../exits/polling.ts";
import { probeLifeline } from "../lifeline.ts";
import type { ExitInfo, ProcessIdentity } from "../types.ts";
import { isAbsent, lookAt } from "./system-look.ts";
import type { Sight, System, SystemDeps } from "./system.ts";

export interface Watched {
  readonly identity: ProcessIdentity;
  readonly sight: Sight;
  readonly lifelinePath: string | null;
}

/** Ends of processes that are no children: neither kqueue nor a wait for a process object can be had from Node. */
export function createExitWatcher(system: System, { ports, clock }: SystemDeps): (watched: Watched) => ExitNotice {
  const poller = createExitPoller(clock);
  const watches = new Set<Watched>();
  return (watched) =>
    new ExitNotice((ended) => {
      const { identity, sight, lifelinePath } = watched;
      let nextLookAt = 0;
      const isOver = (): boolean => {
        if (lifelinePath !== null && probeLifeline(lifelinePath) === "released") return true;
        if (clock.monotonic() < nextLookAt && !isAbsent(ports, identity.pid)) return false;
        // Where a look costs a process, the looks at all the watched together keep the pace that one would have.
        nextLookAt = clock.monotonic() + system.lookIntervalMs * watches.size;
        using look = lookAt(system, ports, identity);
        return look.verdict.kind === "gone" || look.verdict.kind === "replaced";
      };
      const exit = (): ExitInfo | null => (isOver() ? { at: clock.now(), status: sight.exitStatus() } : null);
      watches.add(watched);
      const polling = poller.watch(exit, ended);
      return {
        [Symbol.dispose]: () => {
          watches.delete(watched);
          polling[Symbol.dispose]();
        },
      };
    });
}
