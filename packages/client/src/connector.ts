import { namesThisHome, findOwner } from "./find-owner.ts";
import type { FoundOwner } from "./find-owner.ts";
import { openConnection } from "./connection.ts";
import type { Connection, OpenOptions, Opening } from "./connection.ts";
import type { Patience, Waiting } from "./patience.ts";
import { ProtocolError } from "./protocol/index.ts";
import type { OwnerRecord } from "./protocol/index.ts";

export type OwnerLiveness = "alive" | "gone" | "unknown";

/** `start`: mutations. `never`: reads. `successor`: a daemon was there a moment ago, so another is expected. */
export type AbsencePolicy = "start" | "never" | "successor";
type Presence = "none" | "stopped" | "gone" | "alive";

/**
 * What to do where no daemon answers. A live or unproven owner is waited for, never replaced on silence (I138). `wait_briefly`: as long
 * as a restart takes; one that was stopped and stays so has no successor of its own accord.
 */
const onAbsence = {
  start: { none: "start", stopped: "start", gone: "start", alive: "wait" },
  never: { none: "fail", stopped: "fail", gone: "fail", alive: "wait" },
  successor: { none: "wait", stopped: "wait_briefly", gone: "start", alive: "wait" },
} as const satisfies Record<AbsencePolicy, Record<Presence, "start" | "fail" | "wait" | "wait_briefly">>;

export interface ConnectorOptions {
  readonly home: string;
  readonly startDaemon?: ((why: string) => Promise<void>) | undefined;
  readonly ownerAlive?: ((record: OwnerRecord) => OwnerLiveness | Promise<OwnerLiveness>) | undefined;
}

export interface Acquire extends Omit<OpenOptions, "socketPath"> {
  readonly policy: AbsencePolicy;
  readonly patience: Patience;
  readonly signal?: AbortSignal | undefined;
}

interface Absence {
  readonly owner: FoundOwner;
  readonly presence: Presence;
  /** How long the last daemon has been known to be stopped. */
  readonly stoppedMs: number;
}

const whyStart: Record<Exclude<Presence, "alive">, string> = {
  none: "no daemon owns this home",
  stopped: "the last daemon was stopped",
  gone: "the recorded daemon is gone",
};

/** Finds or makes a daemon of this home and connects to it, as often as its patience lasts. */
export class Connector {
  readonly #options: ConnectorOptions;
  #starting: Promise<void> | null = null;

  constructor(options: ConnectorOptions) {
    this.#options = options;
  }

  async acquire(wanted: Acquire): Promise<Connection> {
    let stoppedSince: number | null = null;
    for (;;) {
      wanted.signal?.throwIfAborted();
      const owner = this.#owner();
      const connection = owner.kind === "found" ? await this.#attempt(owner.record, wanted) : null;
      if (connection) return connection;
      wanted.signal?.throwIfAborted();
      const presence = await this.#presence(owner);
      stoppedSince = presence === "stopped" ? (stoppedSince ?? performance.now()) : null;
      const stoppedMs = stoppedSince === null ? 0 : performance.now() - stoppedSince;
      await this.#awaitDaemon({ owner, presence, stoppedMs }, wanted);
    }
  }

  #owner(): FoundOwner {
    const owner = findOwner(this.#options.home);
    return owner.kind === "found" && !namesThisHome(owner.record, this.#options.home) ? { kind: "none" } : owner;
  }

  async #attempt({ phase, socketPath, identity }: OwnerRecord, wanted: Acquire): Promise<Connection | null> {
    if (phase !== "serving" || socketPath === null) return null;
    const { opening, destroy } = openConnection({ ...wanted, socketPath });
    wanted.signal?.addEventListener("abort", destroy, { once: true });
    let opened: Opening;
    try {
      opened = await wanted.patience.during(opening, silent(this.#options.home, identity.pid));
    } catch (error) {
      destroy();
      throw error;
    } finally {
      wanted.signal?.removeEventListener("abort", destroy);
    }
    if (opened.kind === "open") return opened.connection;
    if (opened.kind === "refused") throw opened.error;
    const fatal = fatalErrno(opened.errno, socketPath);
    if (fatal) throw fatal;
    return null;
  }

  async #awaitDaemon({ owner, presence, stoppedMs }: Absence, { policy, patience, signal }: Acquire): Promise<void> {
    const reaction = onAbsence[policy][presence];
    let said = false;
    const { home, startDaemon } = this.#options;
    if (reaction === "wait_briefly" && stoppedMs >= patience.noticeMs) throw notRunning(home, owner);
    if (presence !== "alive" && reaction !== "wait" && reaction !== "wait_briefly") {
      const startable = reaction === "start" && startDaemon !== undefined;
      if (startable) {
        await this.#start(startDaemon, whyStart[presence]);
        // However long it took: it runs now.
        said = true;
      } else if (policy !== "successor") throw notRunning(home, owner);
    }
    const isThere = presence === "alive" && owner.kind === "found";
    await patience.pause(isThere ? waitingFor(home, owner.record) : absent(home), { signal, said });
  }

  async #presence(owner: FoundOwner): Promise<Presence> {
    if (owner.kind !== "found") return "none";
    if (owner.record.phase === "stopped") return "stopped";
    const liveness = (await this.#options.ownerAlive?.(owner.record)) ?? "unknown";
    return liveness === "gone" ? "gone" : "alive";
  }

  /** Calls side by side share one start. */
  #start(startDaemon: (why: string) => Promise<void>, why: string): Promise<void> {
    this.#starting ??= startDaemon(why).finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }
}

const waitingFor = (home: string, { identity, phase }: OwnerRecord): Waiting =>
  phase === "maintenance" ? maintained(home, identity.pid) : silent(home, identity.pid);

const maintained = (home: string, pid: number): Waiting => ({
  code: "daemon_not_responding",
  text: `${home} is being stopped by force (agent ps --force-stop, pid ${pid})`,
  hint: "try again when it is done",
});

export const silent = (home: string, pid: number): Waiting => ({
  code: "daemon_not_responding",
  text: `the daemon of ${home} (pid ${pid}) does not answer`,
  hint: "agent ps, and agent ps --force-stop if it stays like this",
});

const absent = (home: string): Waiting => ({
  code: "daemon_not_running",
  text: `no daemon runs for ${home}`,
  hint: "agent daemon start",
});

function notRunning(home: string, owner: FoundOwner): ProtocolError {
  const { code, text, hint } = absent(home);
  const why = owner.kind === "unreadable" ? `: ${owner.path} cannot be read (${owner.message})` : "";
  return new ProtocolError(code, text + why, { hint });
}

/** Everything else may pass: a socket not bound yet, a full backlog, a daemon on its way out. */
function fatalErrno(errno: string | null, socketPath: string): ProtocolError | null {
  if (errno === "EACCES" || errno === "EPERM")
    return new ProtocolError("permission_denied", `not allowed to connect to ${socketPath}`);
  if (errno === "EMFILE" || errno === "ENFILE")
    return new ProtocolError("too_many_open_files", `no file descriptor left to connect to ${socketPath}`);
  return null;
}
