import type { ChildProcess } from "node:child_process";
import { systemClock } from "../clock.ts";
import type { ExitInfo } from "../types.ts";

export interface ExitWatch {
  readonly exited: Promise<ExitInfo>;
  /** Calls once; in the next microtask when the process has ended already. */
  onExit(callback: (exit: ExitInfo) => void): Disposable;
}

export function watchExit(child: Pick<ChildProcess, "once">): ExitWatch {
  const callbacks = new Set<(exit: ExitInfo) => void>();
  let ended: ExitInfo | null = null;
  const exited = new Promise<ExitInfo>((resolve) => {
    child.once("exit", (code, signal) => {
      const exit = { at: systemClock.now(), status: statusOf(code, signal) };
      ended = exit;
      resolve(exit);
      for (const callback of callbacks) callback(exit);
      callbacks.clear();
    });
  });
  return {
    exited,
    onExit: (callback) => {
      // Its own function, so that one callback registered twice can be disposed of once.
      const once = (exit: ExitInfo): void => callback(exit);
      const known = ended;
      callbacks.add(once);
      if (known !== null) queueMicrotask(() => callbacks.delete(once) && once(known));
      return { [Symbol.dispose]: () => void callbacks.delete(once) };
    },
  };
}

function statusOf(code: number | null, signal: string | null): ExitInfo["status"] {
  if (code !== null) return { code };
  return signal === null ? null : { signal };
}
