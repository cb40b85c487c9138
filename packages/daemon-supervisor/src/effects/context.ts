import type { Logger } from "pino";
import type { FileSystem } from "@holdfast/recovery-journal";
import type { Clock, Ids, ProcessIdentity, ProcessObserver } from "@holdfast/shared-process";
import type { Catalog } from "../catalog.ts";
import type { Counters } from "../counters.ts";
import type { Fresh } from "../lifecycle/state.ts";
import type { Registry } from "../registry.ts";

/** What every edge of the supervisor works with; made once by `compose.ts`. */
export interface Context {
  readonly home: string;
  readonly workerProgram: string;
  /** What workers start in the place of this supervisor; `null`: nothing. */
  readonly supervisorProgram: string | null;
  readonly epoch: number;
  readonly self: ProcessIdentity;
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly observer: ProcessObserver;
  readonly catalog: Catalog;
  readonly counters: Counters;
  readonly log: Logger;
  /** Values of `--env`, in memory only (I57). */
  readonly secrets: Map<string, Readonly<Record<string, string>>>;
  readonly registry: Registry;
  /** A worker has seen a newer epoch: this supervisor is no longer the owner. */
  readonly onOwnershipLost: (epoch: number) => void;
}

export function missingEnvironment(context: Pick<Context, "catalog" | "secrets">, sessionId: string): string[] {
  const names = context.catalog.get(sessionId)?.secretNames ?? [];
  const known = context.secrets.get(sessionId) ?? {};
  return names.filter((name) => known[name] === undefined);
}

export function freshValues(context: Context, sessionId: string): Fresh {
  return {
    generation: context.ids.newGeneration(),
    stopId: context.ids.newGeneration(),
    at: new Date(context.clock.now()).toISOString(),
    bootId: context.self.bootId,
    missingEnvironment: missingEnvironment(context, sessionId),
  };
}
