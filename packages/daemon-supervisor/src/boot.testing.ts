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
import { answeredEffect } from "./lifecycle/answers.ts";
import type { Answer, Stamp } from "./lifecycle/answers.ts";
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
  readonly run?: (booted: Booted, stamp: Stamp, effect: Effect) => void;
}

/** One supervisor as far as its start, over the records of a real home: production code but for the effects. */
export interface Booted {
  readonly context: Context;
  readonly quarantined: ReadonlyMap<string, string>;
  readonly effects: readonly (readonly [Stamp, Effect])[];
  /** What comes of the last effect of its kind that ran. */
  readonly answer: (event: Answer) => Promise<string>;
  /** The state whose records are durable. */
  readonly published: (sessionId: string) => Promise<State | null>;
}

export function bootHome(options: BootOptions): Booted {
  const { home, clock, observer, forMaintenance = false, run = () => {}, onOwnershipLost = () => {} } = options;
  const effects: [Stamp, Effect][] = [];
  const catalog = new Catalog(home);
  const { quarantined } = catalog;
  const records = new Records({ home, fs: nodeFileSystem, clock, catalog, epoch: 3, isOwner: () => true });
  const registry: Registry = new Registry({
    clock,
    persist: (sessionId, next) => records.persist(sessionId, next),
    run: (stamp, effect) => {
      effects.push([stamp, effect]);
      run(booted, stamp, effect);
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
    supervisorProgram: null,
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
    answer: async (event) => {
      await registry.drained();
      const asked = effects.findLast(([, { type }]) => type === answeredEffect[event.type]);
      if (!asked) throw new Error(`nothing asked for ${event.type}`);
      return registry.answer(asked[0], event).kind;
    },
    published: async (sessionId) => {
      await registry.drained();
      return registry.published(sessionId);
    },
  };
  bootAll(context, {
    files: readWorkerFiles(nodeFileSystem, home),
    records,
    trees: { removeLeftovers: () => {} },
    forMaintenance,
  });
  return booted;
}
