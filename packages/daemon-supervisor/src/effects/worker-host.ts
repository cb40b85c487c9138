import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Logger } from "pino";
import {
  createLifeline,
  holdLifeline,
  makeCgroup,
  ownEnvironment,
  reasonOf,
  spawnGated,
} from "@holdfast/shared-process";
import type { Cgroup, GatedProcess, LaunchFailure, Lifeline, ProcessObserver } from "@holdfast/shared-process";
import { ensurePrivateDirectory } from "@holdfast/recovery-journal";
import type { FileSystem } from "@holdfast/recovery-journal";
import { workerCgroupName } from "@holdfast/session-worker/transport";
import { homeHash, logsFolder, runFolder } from "../home.ts";
import { GENERATION_NAME, HOME_NAME } from "../names.ts";
import { noteCgroupDirectory } from "./leftovers.ts";

export interface WorkerOrder {
  readonly sessionId: string;
  readonly generation: string;
  readonly lifelinePath: string | null;
}

/** A worker behind its gate. */
export type GatedWorker = Pick<GatedProcess, "identity" | "handle" | "onExit" | "openGate" | "discard" | "unref"> & {
  readonly cgroup: Pick<Cgroup, "path"> | null;
};

/** Where workers are started: the machine, or a simulated one. */
export interface WorkerHost {
  /** Makes a FIFO that the worker will hold for life. Rejects where none can be made. */
  createLifeline(path: string): Promise<void>;
  /** Rejects with system errors of what stands around the spawn: folders, logs, descriptors. */
  spawn(order: WorkerOrder): Promise<{ readonly kind: "spawned"; readonly process: GatedWorker } | LaunchFailure>;
}

interface HostParts {
  readonly home: string;
  readonly workerProgram: string;
  readonly fs: FileSystem;
  readonly observer: ProcessObserver;
  readonly log: Logger;
}

/** Detached processes of this machine, each in a cgroup of its own where one can be made. */
export class SystemWorkerHost implements WorkerHost {
  readonly #parts: HostParts;
  #saidUnavailable = false;

  constructor(parts: HostParts) {
    this.#parts = parts;
  }

  createLifeline(path: string): Promise<void> {
    return createLifeline(path);
  }

  async spawn({ sessionId, generation, lifelinePath }: WorkerOrder): ReturnType<typeof spawnGated> {
    const { home, workerProgram, fs, observer } = this.#parts;
    // Somebody may have removed them under the living daemon (I146).
    for (const folder of [logsFolder(home), runFolder(home)]) ensurePrivateDirectory(fs, folder);
    const errors = openSync(`${logsFolder(home)}/worker-${sessionId}.err`, "a", 0o600);
    let lifeline: Lifeline | null = null;
    let cgroup: Cgroup | null = null;
    let isInside = false;
    try {
      lifeline = lifelinePath === null ? null : holdLifeline(lifelinePath);
      // Made, filled and looked at in one turn: an empty group that is found at any other time is a leftover.
      cgroup = this.#cgroup(generation);
      const launched = await spawnGated({
        command: process.execPath,
        args: [workerProgram],
        env: ownEnvironment(process.env, { [HOME_NAME]: home, [GENERATION_NAME]: generation }),
        cwd: "/",
        observer,
        standardError: errors,
        cgroup,
        ...(lifeline ? { lifelineFd: lifeline.fd } : {}),
      });
      isInside = launched.kind === "spawned" && launched.process.cgroup !== null;
      return launched;
    } finally {
      if (!isInside) cgroup?.remove();
      // The child holds both from its birth; this copy would keep a dead worker's lifeline alive.
      lifeline?.[Symbol.dispose]();
      closeSync(errors);
    }
  }

  /** Where none can be made, a sweep goes by the marker and by descent. */
  #cgroup(generation: string): Cgroup | null {
    const { home, log } = this.#parts;
    const made = makeCgroup(workerCgroupName(homeHash(home), generation));
    if (made.kind === "made") {
      this.#note(made.cgroup);
      return made.cgroup;
    }
    if (!this.#saidUnavailable) log.info({ reason: made.reason }, "workers get no cgroups");
    this.#saidUnavailable = true;
    return null;
  }

  #note({ path }: Cgroup): void {
    try {
      noteCgroupDirectory(this.#parts.home, dirname(path));
    } catch (error) {
      // The group is as good without it: it is missed only by whoever looks from another one.
      this.#parts.log.warn({ path, reason: reasonOf(error) }, "where the cgroups are could not be noted");
    }
  }
}
