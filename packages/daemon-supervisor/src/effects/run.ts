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
export function runEffect({ launcher, channels, watcher, ender }: Edges, sessionId: string, effect: Effect): void {
  switch (effect.type) {
    case "spawn":
      void launcher.spawn(sessionId, effect.generation);
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
      void channels.startWorker(sessionId, effect.process);
      return;
    case "ask_stop":
      void channels.askStop(sessionId, effect.process, effect.intent);
      return;
    case "signal":
      watcher.signal(sessionId, effect.process, effect);
      return;
    case "watch":
      watcher.watch(sessionId, effect.process);
      return;
    case "settle":
      void ender.settle(sessionId, effect.process);
      return;
    case "finalize":
      void ender.finalize(sessionId, effect.process, effect.intent);
      return;
  }
}
