import { rethrowLater } from "../errors.ts";
import type { Clock, ExitInfo } from "../types.ts";

/** Looks at a process again and again, where the kernel tells nothing by itself. */
export interface ExitPoller {
  /** `look` gives the end once it is known. Nothing is called after disposal. */
  watch(look: () => ExitInfo | null, ended: (exit: ExitInfo) => void): Disposable;
}

/** 300 processes at 50 µs a look are 15 % of a core at this pace; the back-ends that need it are the last resort. */
const POLL_MS = 100;

interface Watched {
  readonly look: () => ExitInfo | null;
  readonly ended: (exit: ExitInfo) => void;
}

/** One timer for everything that is watched, and none while nothing is. It does not keep this process alive. */
export function createExitPoller(clock: Clock): ExitPoller {
  const watched = new Set<Watched>();
  let timer: Disposable | null = null;
  const sweep = (): void => {
    timer = null;
    for (const one of watched) {
      try {
        const exit = one.look();
        // A callback before this one may have disposed of it.
        if (exit !== null && watched.delete(one)) one.ended(exit);
      } catch (error) {
        // A bug, which must show, and must not end the watch of the others.
        watched.delete(one);
        rethrowLater(error);
      }
    }
    arm();
  };
  const arm = (): void => {
    if (watched.size > 0) timer ??= clock.setTimer(POLL_MS, sweep, { background: true });
  };
  return {
    watch: (look, ended) => {
      const one = { look, ended };
      watched.add(one);
      arm();
      return {
        [Symbol.dispose]: () => {
          watched.delete(one);
          if (watched.size > 0) return;
          timer?.[Symbol.dispose]();
          timer = null;
        },
      };
    },
  };
}
