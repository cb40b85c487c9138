import { nodeFileSystem } from "@holdfast/recovery-journal";
import { systemIds } from "@holdfast/shared-process";
import type { Clock, ProcessObserver } from "@holdfast/shared-process";
import { pino } from "pino";
import { bootAll } from "./boot.ts";
import { Catalog } from "./catalog.ts";
import { newCounters } from "./counters.ts";
import { readWorkerFiles } from "./descriptor-files.ts";
import type { Context } from "./effects/context.ts";
import { freshValues } from "./effects/context.ts";
import { processOf } from "./lifecycle/samples.testing.ts";
import type { Effect, State } from "./lifecycle/state.ts";
import { Records } from "./records.ts";
import { Registry } from "./registry.ts";

export interface BootOptions {
  readonly home: string;
  readonly clock: Clock;
  readonly observer: ProcessObserver;
  readonly forMaintenance?: boolean;
  readonly onOwnershipLost?: (epoch: number) => void;
  /** What the effects would do; nothing by default. */
  readonly run?: (booted: Booted, sessionId: string, effect: Effect) => void;
}

/** One supervisor as far as its start, over the records of a real home: production code but for the effects. */
export interface Booted {
  readonly context: Context;
  readonly quarantined: ReadonlyMap<string, string>;
  readonly effects: readonly (readonly [string, Effect])[];
  /** The state whose records are durable. */
  readonly published: (sessionId: string) => Promise<State | null>;
}

export function bootHome(options: BootOptions): Booted {
  const { home, clock, observer, forMaintenance = false, run = () => {}, onOwnershipLost = () => {} } = options;
  const effects: [string, Effect][] = [];
  const quarantined = new Map<string, string>();
  const catalog = new Catalog(home);
  const records = new Records({ home, fs: nodeFileSystem, clock, catalog, epoch: 3, isOwner: () => true });
  const registry: Registry = new Registry({
    clock,
    persist: (sessionId, next) => records.persist(sessionId, next),
    run: (sessionId, effect) => {
      effects.push([sessionId, effect]);
      run(booted, sessionId, effect);
    },
    fresh: (sessionId) => freshValues(context, sessionId),
    onPublished: () => {},
    onProblem: (_sessionId, message) => {
      throw new Error(message);
    },
    onDecision: () => {},
  });
  const context: Context = {
    home,
    workerProgram: "/worker",
    epoch: 3,
    self: { ...processOf("self").identity, bootId: "b" },
    fs: nodeFileSystem,
    clock,
    ids: systemIds,
    observer,
    catalog,
    counters: newCounters(),
    log: pino({ level: "silent" }),
    secrets: new Map(),
    registry,
    onOwnershipLost,
  };
  const booted: Booted = {
    context,
    quarantined,
    effects,
    published: async (sessionId) => {
      await registry.drained();
      return registry.published(sessionId);
    },
  };
  bootAll(context, {
    files: readWorkerFiles(nodeFileSystem, home),
    records,
    sessions: { quarantined },
    forMaintenance,
  });
  return booted;
}
