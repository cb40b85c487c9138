import { connect } from "node:net";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { createObserver, systemClock, systemIds } from "@holdfast/shared-process";
import type { Clock, Ids, ProcessObserver } from "@holdfast/shared-process";
import type { Dial } from "./effects/channels.ts";
import type { Context } from "./effects/context.ts";
import { SystemTrees } from "./effects/trees.ts";
import type { Trees } from "./effects/trees.ts";
import { SystemWorkerHost } from "./effects/worker-host.ts";
import type { WorkerHost } from "./effects/worker-host.ts";
import type { Decided } from "./registry-ports.ts";

/** Everything outside of the supervisor that it sees and changes: the machine's, or a simulated one. */
export interface World {
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly observer: ProcessObserver;
  readonly dial: Dial;
  readonly hostOf: (context: Context) => WorkerHost;
  readonly treesOf: (context: Context) => Trees;
  /** Told of each step of the lifecycle, beside the log. */
  readonly watching?: {
    readonly decided: (decided: Decided) => void;
    readonly problem: (sessionId: string, message: string) => void;
  };
}

export const systemWorld = (): World => ({
  fs: nodeFileSystem,
  clock: systemClock,
  ids: systemIds,
  observer: createObserver({ mode: "narrow" }),
  dial: (path) => connect(path),
  hostOf: (context) => new SystemWorkerHost(context),
  treesOf: (context) => new SystemTrees(context),
});
