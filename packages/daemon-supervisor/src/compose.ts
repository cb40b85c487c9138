import { PROTOCOL_VERSION, SCHEMA_REVISION, VERSION } from "@holdfast/client/protocol";
import type { Hello } from "@holdfast/client/protocol";
import { reasonOf, startIdOf } from "@holdfast/shared-process";
import type { Clock, ProcessIdentity } from "@holdfast/shared-process";
import type { WorkerReport } from "@holdfast/session-worker/transport";
import type { Logger } from "pino";
import { bootAll } from "./boot.ts";
import { Catalog } from "./catalog.ts";
import { Changes } from "./changes.ts";
import { newCounters } from "./counters.ts";
import type { WorkerFiles } from "./descriptor-files.ts";
import { Channels } from "./effects/channels.ts";
import { freshValues } from "./effects/context.ts";
import type { Context } from "./effects/context.ts";
import { Ender } from "./effects/end.ts";
import { Launcher } from "./effects/launch.ts";
import { runEffect } from "./effects/run.ts";
import { Stores } from "./effects/stores.ts";
import { Watcher } from "./effects/watch.ts";
import { Records } from "./records.ts";
import { Registry } from "./registry.ts";
import { Sessions } from "./sessions.ts";
import { RELEASE_MS } from "./times.ts";
import { sweepRunFiles } from "./run-files.ts";
import { Trust } from "./trust.ts";
import type { World } from "./world.ts";

export interface SupervisorParts {
  readonly home: string;
  readonly workerProgram: string;
  readonly supervisorProgram?: string | undefined;
  readonly epoch: number;
  readonly self: ProcessIdentity;
  readonly world: World;
  readonly log: Logger;
  readonly files: WorkerFiles;
  /** Asked before each write of records: another owner's are never overwritten. */
  readonly isOwner: () => boolean;
  readonly onOwnershipLost: (epoch: number) => void;
  readonly onChanged: () => void;
  readonly forMaintenance?: boolean;
}

export interface Supervisor {
  readonly context: Context;
  readonly changes: Changes;
  readonly channels: Channels;
  readonly stores: Stores;
  readonly sessions: Sessions;
  readonly ender: Ender;
  readonly records: Records;
  readonly trust: Trust;
  /** Registers every session of the home and starts what its records ask for. */
  readonly boot: () => void;
  /** Lets go of everything; workers stay. */
  readonly release: () => Promise<void>;
}

/** Puts the real seams in. Nothing here decides anything. */
export function composeSupervisor(parts: SupervisorParts): Supervisor {
  const { home, epoch, log, world } = parts;
  const { fs, clock, ids, observer, dial } = world;
  const changes = new Changes(clock);
  sweep(parts);
  const catalog = new Catalog(home, fs, parts.isOwner);
  const records = new Records({ home, fs, clock, catalog, epoch, isOwner: parts.isOwner });
  const registry = new Registry({
    clock,
    persist: (sessionId, next) => records.persist(sessionId, next),
    run: (stamp, effect) => runEffect({ launcher, channels, watcher, ender }, stamp, effect),
    fresh: (sessionId) => freshValues(context, sessionId),
    onPublished: (sessionId) => {
      changes.tell(sessionId);
      parts.onChanged();
    },
    onProblem: (sessionId, message) => {
      log.error({ sessionId, message }, "registration");
      world.watching?.problem(sessionId, message);
    },
    onDecision: (decided) => {
      const { sessionId, event, decision } = decided;
      world.watching?.decided(decided);
      if (decision.kind === "stale") context.counters.staleEvents += 1;
      if (event.type === "hello" && decision.kind === "move") context.counters.adoptions += 1;
      log.info({ sessionId, event: event.type, decision: decision.kind, ...detailOf(decision) }, "event");
    },
  });
  const context: Context = {
    home,
    workerProgram: parts.workerProgram,
    supervisorProgram: parts.supervisorProgram ?? null,
    epoch,
    self: parts.self,
    fs,
    clock,
    ids,
    observer,
    catalog,
    counters: newCounters(),
    log,
    secrets: new Map(),
    registry,
    onOwnershipLost: parts.onOwnershipLost,
  };
  const stores = new Stores(context);
  const trees = world.treesOf(context);
  const launcher = new Launcher(context, stores, world.hostOf(context));
  const watcher = new Watcher(context, launcher, trees);
  const onReport = (sessionId: string, report: WorkerReport): void => {
    catalog.touch(sessionId, new Date(report.lastActivityAt).toISOString());
    changes.tell(sessionId);
    parts.onChanged();
  };
  const channels = new Channels(context, { watcher, dial, onReport });
  const ender = new Ender(context, stores, trees);
  const sessions = new Sessions(context, channels);
  const trust = new Trust({ home, fs, log });
  return {
    context,
    changes,
    channels,
    stores,
    sessions,
    ender,
    records,
    trust,
    boot: () => bootAll(context, { files: parts.files, records, trees, forMaintenance: parts.forMaintenance ?? false }),
    release: async () => {
      registry.close();
      trust[Symbol.dispose]();
      await registry.drained();
      await Promise.race([stores.releaseAll(), pause(clock, RELEASE_MS)]);
      channels.closeAll();
    },
  };
}

/** What predecessors left that nobody was told of. */
function sweep(parts: SupervisorParts): void {
  const { home, log, world } = parts;
  try {
    sweepRunFiles(world.fs, home, parts);
  } catch (error) {
    // One folder's trouble must not keep the home from its owner (I142); the next start tries again.
    log.warn({ reason: reasonOf(error) }, "what predecessors left could not be removed");
  }
}

export const pause = (clock: Clock, delayMs: number): Promise<void> =>
  new Promise((resolve) => void clock.setTimer(delayMs, resolve, { background: true }));

const detailOf = (decision: object): object =>
  "state" in decision && typeof decision.state === "object" && decision.state !== null && "name" in decision.state
    ? { state: decision.state.name }
    : "why" in decision
      ? { why: decision.why }
      : {};

export const helloOf = ({ context }: Supervisor): Hello => ({
  protocol: { name: "holdfast", version: PROTOCOL_VERSION },
  schemaRevision: SCHEMA_REVISION,
  capabilities: [],
  version: VERSION,
  epoch: context.epoch,
  home: context.home,
  pid: context.self.pid,
  startId: startIdOf(context.self),
});
