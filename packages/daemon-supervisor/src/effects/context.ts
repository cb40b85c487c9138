import type { Logger } from "pino";
import type { FileSystem } from "@holdfast/recovery-journal";
import type { Clock, Ids, ProcessIdentity, ProcessObserver, ProcessPorts } from "@holdfast/shared-process";
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
  /** Where the processes of a session are listed; default the system's. */
  readonly ports?: ProcessPorts;
  readonly catalog: Catalog;
  readonly counters: Counters;
  readonly log: Logger;
  /** Values of `--env` that a creation or a resume brought, for every launch until the session is deleted; in memory only (I57). */
  readonly secrets: Map<string, Readonly<Record<string, string>>>;
  readonly registry: Registry;
  /** A worker has seen a newer epoch: this supervisor is no longer the owner. */
  readonly onOwnershipLost: (epoch: number) => void;
}

type Values = Readonly<Record<string, string>>;
type SecretsContext = Pick<Context, "catalog" | "secrets">;

export function missingEnvironment(
  { catalog, secrets }: SecretsContext,
  sessionId: string,
  offered: Values = {},
): string[] {
  const names = catalog.get(sessionId)?.secretNames ?? [];
  const known = { ...secrets.get(sessionId), ...offered };
  return names.filter((name) => known[name] === undefined);
}

/** What a session's worker gets beside the stored environment: values of the recorded names alone (I59). */
export function secretsOf({ catalog, secrets }: SecretsContext, sessionId: string): Values {
  const names = catalog.get(sessionId)?.secretNames ?? [];
  const known = secrets.get(sessionId) ?? {};
  return Object.fromEntries(names.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]])));
}

/** `offered`: values of the resume that is being decided, which are not the session's yet (I60). */
export function freshValues(context: Context, sessionId: string, offered: Values = {}): Fresh {
  return {
    generation: context.ids.newGeneration(),
    stopId: context.ids.newGeneration(),
    at: new Date(context.clock.now()).toISOString(),
    bootId: context.self.bootId,
    missingEnvironment: missingEnvironment(context, sessionId, offered),
  };
}
