import { copyFileSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentPath } from "../support/command.ts";
import type { Home } from "../support/home.ts";
import type { SessionRow } from "../support/rows.ts";
import { waitFor } from "../support/wait-for.ts";

/** The part of `workers/<id>.json` that tells the state without a command. */
interface Descriptor {
  readonly lifecycle: string;
  readonly launches: readonly unknown[];
  readonly stop?: { readonly goal: string };
  readonly process: { readonly socketPath: string };
}

export function descriptorOf(home: Home, { sessionId }: SessionRow): Descriptor | null {
  const path = home.descriptorPath(sessionId);
  if (!existsSync(path)) return null;
  const descriptor: Descriptor = JSON.parse(readFileSync(path, "utf8"));
  return descriptor;
}

export function descriptorCount(home: Home): number {
  const folder = join(home.path, "workers");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")).length : 0;
}

export async function untilLifecycle(
  home: Home,
  session: SessionRow,
  lifecycle: string,
  launches?: number,
): Promise<void> {
  const reached = (): boolean => {
    const found = descriptorOf(home, session);
    return found?.lifecycle === lifecycle && (launches === undefined || found.launches.length === launches);
  };
  await waitFor(reached, `${session.sessionId} is ${lifecycle}`, 20_000);
}

/** From here on a worker that is killed is relaunched after 5 s: it has been relaunched twice. */
export async function spendQuickRelaunches(home: Home, session: SessionRow): Promise<void> {
  for (const launches of [1, 2]) {
    await home.kill(home.worker(session));
    await untilLifecycle(home, session, "ready", launches);
  }
}

/** Kills the worker and returns when its work is settled: the wait for the relaunch has begun. */
export async function killIntoRecovery(home: Home, session: SessionRow): Promise<void> {
  const socketPath = descriptorOf(home, session)?.process.socketPath ?? "";
  await home.kill(home.worker(session));
  await untilLifecycle(home, session, "recovering");
  await waitFor(() => !existsSync(socketPath), "what the worker left is settled");
}

/**
 * A copy of node that the daemon, and so every worker, is started with. It can be taken away, so that no worker can be launched, and
 * replaced by a script that waits: then workers stay in their start for as long as wanted.
 */
export class OwnNode {
  readonly path: string;
  readonly #gate: string;

  constructor(home: Home) {
    this.path = join(home.root, "node");
    this.#gate = join(home.root, "gate");
    copyFileSync(process.execPath, this.path);
  }

  static async startDaemon(home: Home): Promise<OwnNode> {
    const node = new OwnNode(home);
    const { code, stderr } = await home.run([node.path, agentPath, "daemon", "start"]).result();
    if (code !== 0) throw new Error(`agent daemon start: exit ${code}: ${stderr}`);
    return node;
  }

  /** No worker can be launched. */
  remove(): void {
    rmSync(this.path);
  }

  /** Workers that are launched from now on wait before their first instruction. */
  shut(): void {
    writeFileSync(this.#gate, "");
    this.#replace();
  }

  /** Workers that wait go on, and others can be launched. */
  open(): void {
    rmSync(this.#gate, { force: true });
    this.#replace();
  }

  /** Under another name first: a program that runs cannot be written. */
  #replace(): void {
    const script = `#!/bin/sh\nwhile [ -e ${this.#gate} ]; do sleep 0.1; done\nexec ${process.execPath} "$@"\n`;
    writeFileSync(`${this.path}.new`, script, { mode: 0o755 });
    renameSync(`${this.path}.new`, this.path);
  }
}
