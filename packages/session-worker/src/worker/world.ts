import { nodeFileSystem } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { createObserver, systemClock, systemIds, systemPorts } from "@holdfast/shared-process";
import type { Clock, Ids, ProcessObserver, ProcessPorts } from "@holdfast/shared-process";
import type { Agent } from "../agents/agent.ts";
import { ShellAgent } from "../agents/shell/shell-agent.ts";
import type { ShellAgentOptions } from "../agents/shell/shell-agent.ts";
import { Listener } from "../transport/listener.ts";
import type { ListenerOptions } from "../transport/listener.ts";
import { startSupervisor } from "../transport/start-supervisor.ts";
import type { Start } from "./successor.ts";

/** Everything outside of a worker that it sees and changes: the machine's, or a simulated one. */
export interface WorkerWorld {
  readonly ports: ProcessPorts;
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly observer: ProcessObserver;
  readonly listenerOf: (options: ListenerOptions) => Pick<Listener, "bind" | "close" | "isReachable">;
  readonly agentOf: (options: ShellAgentOptions) => Agent;
  /** One line for the worker's log. */
  readonly say: (text: string) => void;
  readonly start: Start;
}

export const systemWorld = (): Omit<WorkerWorld, "say"> => ({
  ports: systemPorts,
  fs: nodeFileSystem,
  clock: systemClock,
  ids: systemIds,
  observer: createObserver({ mode: "narrow", library: "for-signals" }),
  listenerOf: (options) => new Listener(options),
  agentOf: (options) => new ShellAgent(options),
  start: startSupervisor,
});
