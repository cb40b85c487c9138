import { closeSync, openSync } from "node:fs";
import { ensurePrivateDirectory, nodeFileSystem } from "@holdfast/recovery-journal";
import { createObserver, ownEnvironment, spawnGated } from "@holdfast/shared-process";
import type { GatedProcess, LaunchFailure } from "@holdfast/shared-process";
import { int, object, optional, string } from "zod/mini";
import type { infer as Infer } from "zod/mini";
import type { Programs } from "./messages.ts";

/** What the gate hands to the supervisor program, as one JSON line. Without `supervisorProgram` its workers start no successor. */
export const supervisorOrdersSchema = object({
  home: string(),
  workerProgram: string(),
  supervisorProgram: optional(string()),
  /** The epoch whose owner is gone: it claims the home only while that one is still the last. */
  successorOf: optional(int()),
});
export type SupervisorOrders = Infer<typeof supervisorOrdersSchema>;

export interface SupervisorStart {
  readonly home: string;
  readonly programs: Programs;
  /** Whose allowed part it gets. */
  readonly environment: NodeJS.ProcessEnv;
  readonly successorOf?: number;
}

export type SupervisorStarted = { readonly kind: "spawned"; readonly process: GatedProcess } | LaunchFailure;

/** Where a supervisor's standard error goes. */
export const supervisorErrors = (home: string): string => `${home}/logs/supervisor.err`;

/**
 * Starts a supervisor in the background, as a command and a worker do: own environment, directory `/`, a session of its own. It leaves the
 * cgroup of whoever started it by itself. Throws what keeps its log from being opened.
 */
export async function startSupervisor(start: SupervisorStart): Promise<SupervisorStarted> {
  const { home, programs, environment, successorOf } = start;
  ensurePrivateDirectory(nodeFileSystem, `${home}/logs`);
  const errors = openSync(supervisorErrors(home), "a", 0o600);
  try {
    const spawned = await spawnGated({
      command: process.execPath,
      args: [programs.supervisor],
      env: ownEnvironment(environment, { HOLDFAST_HOME: home }),
      cwd: "/",
      // It is waited for, and told by its record once it serves: what the library adds is not needed here.
      observer: createObserver({ library: "never" }),
      standardError: errors,
    });
    if (spawned.kind === "failed") return spawned;
    const orders: SupervisorOrders = {
      home,
      workerProgram: programs.worker,
      supervisorProgram: programs.supervisor,
      ...(successorOf === undefined ? {} : { successorOf }),
    };
    spawned.process.openGate(JSON.stringify(orders));
    return spawned;
  } finally {
    closeSync(errors);
  }
}
