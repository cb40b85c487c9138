import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "@holdfast/shared-process";
import { ownerFolder } from "@holdfast/session-worker/transport";
import { workersFolder } from "./home.ts";

/** After a change: removals come in bursts, and one look answers them all. */
const LOOK_MS = 50;

interface Guarded {
  readonly home: string;
  readonly socketPath: string;
  readonly clock: Clock;
}

/** Looks whenever something changes where the socket or the owner records lie. No timer while nothing does. */
export function guardHome({ home, socketPath, clock }: Guarded, look: () => void): Disposable {
  const folders = [dirname(socketPath), ownerFolder(home), workersFolder(home)];
  let watchers: FSWatcher[] = [];
  let timer: Disposable | null = null;
  const soon = (): void => {
    timer ??= clock.setTimer(LOOK_MS, () => {
      timer = null;
      try {
        look();
      } finally {
        // A folder that was made anew needs a new watch; one that is gone is asked for at the next change of the other.
        observe();
      }
    });
  };
  const observe = (): void => {
    for (const watcher of watchers) watcher.close();
    watchers = folders.flatMap((folder) => tryWatch(folder, soon));
  };
  observe();
  return {
    [Symbol.dispose]: () => {
      timer?.[Symbol.dispose]();
      for (const watcher of watchers) watcher.close();
    },
  };
}

function tryWatch(folder: string, onChange: () => void): FSWatcher[] {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    watcher.on("error", onChange);
    return [watcher];
  } catch {
    // Missing, or no watch is left on this machine: the other folder's watch remains.
    return [];
  }
}
