import type { Stamp } from "../lifecycle/answers.ts";
import type { Effect } from "../lifecycle/state.ts";
import type { Channels } from "./channels.ts";
import type { Ender } from "./end.ts";
import type { Launcher } from "./launch.ts";
import type { Watcher } from "./watch.ts";

export interface Edges {
  readonly launcher: Launcher;
  readonly channels: Channels;
  readonly watcher: Watcher;
  readonly ender: Ender;
}

/** Starts one effect. None of these throws or rejects: whatever comes of it returns as an event. */
export function runEffect({ launcher, channels, watcher, ender }: Edges, stamp: Stamp, effect: Effect): void {
  const { sessionId } = stamp;
  switch (effect.type) {
    case "spawn":
      void launcher.spawn(stamp, effect.generation);
      return;
    case "open_gate":
      launcher.openGate(sessionId, effect.process);
      return;
    case "discard":
      launcher.discard(effect.process);
      return;
    case "connect":
      void channels.connect(sessionId, effect.process);
      return;
    case "start_worker":
      void channels.startWorker(stamp, effect.process);
      return;
    case "ask_stop":
      void channels.askStop(stamp, effect.process, effect.intent);
      return;
    case "signal":
      watcher.signal(stamp, effect.process, effect);
      return;
    case "watch":
      watcher.watch(sessionId, effect.process);
      return;
    case "settle":
      void ender.settle(stamp, effect.process);
      return;
    case "finalize":
      void ender.finalize(stamp, effect.process, effect.intent);
      return;
  }
}
