import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Identity, identityOf, isRunning, processesWith, signal } from "../../e2e/support/processes.ts";
import { waitFor } from "../../e2e/support/wait-for.ts";
import type { Client, SessionRow } from "../../packages/client/src/index.ts";
import { agentPath, loadClient } from "./built.ts";
import { cpuOf, finish, finishLast, isEnding } from "./children.ts";

const open = new Set<Home>();
/** The kernel needs a moment for what was killed. */
const GONE_MS = 5_000;

/** A state directory with everything that was started in it; disposal ends and removes all of it. */
export class Home implements AsyncDisposable {
  readonly root: string;
  readonly path: string;
  /** A program without a line: what Node itself takes. */
  readonly emptyProgram: string;
  readonly #clients: Client[] = [];
  #closed: Promise<void> | null = null;

  constructor() {
    if (isEnding()) throw new Error("the run is being ended");
    this.root = mkdtempSync(join(tmpdir(), "hf-bench-"));
    this.path = join(this.root, "home");
    this.emptyProgram = join(this.root, "empty.cjs");
    open.add(this);
    mkdirSync(join(this.root, "files"));
    writeFileSync(this.emptyProgram, "");
  }

  /** Nothing of ours but PATH: above all no NODE_EXTRA_CA_CERTS. The last one marks every process that belongs to this home. */
  get environment(): Record<string, string> {
    return {
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      HOME: this.root,
      LANG: "C.UTF-8",
      TMPDIR: tmpdir(),
      HOLDFAST_HOME: this.path,
      XDG_CONFIG_HOME: join(this.root, "config"),
    };
  }

  /** Milliseconds until a command that has to succeed has ended. */
  async agent(...args: string[]): Promise<number> {
    return (await finish([process.execPath, agentPath, ...args], this.environment)).wallMs;
  }

  /** Milliseconds of CPU of a command; what the daemon does for it is not in them. */
  async agentCpu(...args: string[]): Promise<number> {
    return await cpuOf([process.execPath, agentPath, ...args], this.environment);
  }

  async emptyNode(): Promise<number> {
    return (await finish([process.execPath, this.emptyProgram], this.environment)).wallMs;
  }

  async emptyNodeCpu(): Promise<number> {
    return await cpuOf([process.execPath, this.emptyProgram], this.environment);
  }

  /** A client that starts no daemon. */
  async client(): Promise<Client> {
    const { createClient } = await loadClient();
    const client = createClient({ home: this.path, name: "bench" });
    this.#clients.push(client);
    return client;
  }

  /** Session by session over the socket, `together` at a time. */
  async newSessions(client: Client, count: number, together = 8): Promise<SessionRow[]> {
    const rows: SessionRow[] = [];
    for (let made = 0; made < count; made += together) {
      const batch = Array.from({ length: Math.min(together, count - made) }, () => this.newSession(client));
      rows.push(...(await Promise.all(batch)));
    }
    return rows;
  }

  async newSession(client: Client): Promise<SessionRow> {
    return await client.call("session/new", {
      requestId: crypto.randomUUID(),
      cwd: join(this.root, "files"),
      environment: this.environment,
    });
  }

  descriptorPath({ sessionId }: SessionRow): string {
    return join(this.path, "workers", `${sessionId}.json`);
  }

  /** The process that serves this home, by its owner record. */
  async daemon(): Promise<Identity> {
    const { findOwner } = await loadClient();
    const owner = findOwner(this.path);
    if (owner.kind !== "found" || owner.record.phase !== "serving") throw new Error(`no daemon serves ${this.path}`);
    return running(owner.record.identity.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    try {
      for (const client of this.#clients) client.close();
      if (this.#left().length > 0) await this.#forceStop();
      await waitFor(() => this.#left().length === 0, "nothing of the home is left", GONE_MS).catch(() => {
        // Only what carries this home's path in its environment, and each by its identity.
        for (const left of this.#left()) signal(left, "SIGKILL");
      });
    } finally {
      rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
      open.delete(this);
    }
  }

  #left(): readonly Identity[] {
    return processesWith(this.root);
  }

  async #forceStop(): Promise<void> {
    try {
      await finishLast([process.execPath, agentPath, "ps", "--force-stop", "--yes"], this.environment);
    } catch (error) {
      // What it could not end is ended by the caller; the text says why that was needed.
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}

export function running(pid: number | null): Identity {
  const identity = identityOf(pid ?? 0);
  if (!identity) throw new Error(`process ${pid} does not run`);
  return identity;
}

export async function kill(identity: Identity): Promise<void> {
  signal(identity, "SIGKILL");
  await waitFor(() => !isRunning(identity), `process ${identity.pid} is gone`);
}

/** For Ctrl-C and failures: a run leaves nothing behind. */
export async function closeHomes(): Promise<void> {
  await Promise.all([...open].map(async (home) => await home[Symbol.asyncDispose]()));
}
