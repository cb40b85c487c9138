import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Result, Running } from "../support/command.ts";
import {
  everyProcess,
  type Identity,
  isFrozen,
  isRunning,
  processesWith,
  sessionNumber,
  signal,
} from "../support/processes.ts";
import { parseRow } from "../support/rows.ts";
import { waitFor } from "../support/wait-for.ts";

const isCalm = ({ lifecycle, stop }: Descriptor): boolean =>
  (lifecycle === "ready" || lifecycle === "failed") && stop === undefined;

interface Recorded {
  readonly identity: Identity;
}

/** The parts of `workers/<id>.json` that matter here. */
export interface Descriptor {
  readonly lifecycle: string;
  readonly process: Recorded & { readonly generation: string; readonly marker: string };
  readonly stop?: object;
}

export interface Owner extends Recorded {
  readonly epoch: number;
  readonly phase: string;
}

/** The processes of a session. */
export interface SessionProcesses {
  readonly sessionId: string;
  readonly worker: Identity;
  readonly agent: Identity;
  readonly marker: string;
  /** A turn runs. */
  readonly isBusy: boolean;
}

/** A state directory in a pid namespace that this program has to itself. */
export class LoneHome {
  readonly path: string;
  readonly #agent: string;
  readonly #root: string;

  constructor(agent: string, root: string) {
    this.#agent = agent;
    this.#root = root;
    this.path = join(root, "h");
    mkdirSync(root, { recursive: true });
  }

  start(args: readonly string[]): Running {
    const env = { PATH: process.env["PATH"] ?? "", HOME: this.#root, LANG: "C.UTF-8", HOLDFAST_HOME: this.path };
    return new Running([process.execPath, this.#agent, ...args], { env, cwd: this.#root });
  }

  async ok(...args: string[]): Promise<Result> {
    const result = await this.start(args).result();
    if (result.code !== 0) throw new Error(`agent ${args.join(" ")}: exit ${result.code}: ${result.stderr}`);
    return result;
  }

  /** Sessions side by side, every third of them with work in progress unless that is not wanted. */
  async newSessions(count: number, { busy = true } = {}): Promise<SessionProcesses[]> {
    if (!this.owner()) await this.ok("daemon", "start");
    return await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const { sessionId } = parseRow((await this.ok("new", "--json")).stdout);
        const isBusy = busy && index % 3 === 0;
        if (isBusy) await this.ok("prompt", sessionId, "--no-wait", "sleep 600");
        return { ...this.sessionOf(sessionId), isBusy };
      }),
    );
  }

  sessionOf(sessionId: string): Omit<SessionProcesses, "isBusy"> {
    const { identity, marker } = this.descriptor(sessionId).process;
    const agent = this.agentOf(marker);
    if (!agent) throw new Error(`${sessionId} has no agent`);
    return { sessionId, worker: identity, agent, marker };
  }

  agentOf(marker: string): Identity | undefined {
    return processesWith(marker).find(({ pid }) => sessionNumber(pid) === pid);
  }

  /** The highest owner record, and what else it says. */
  owner(): Owner | null {
    const path = this.ownerPath();
    if (path === null) return null;
    const owner: Owner = JSON.parse(readFileSync(path, "utf8"));
    return owner;
  }

  ownerPath(): string | null {
    const folder = join(this.path, "owner");
    const epochs = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d+\.json$/.test(name)) : [];
    const highest = epochs.toSorted((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10))[0];
    return highest === undefined ? null : join(folder, highest);
  }

  descriptorPath(sessionId: string): string {
    return join(this.path, "workers", `${sessionId}.json`);
  }

  descriptor(sessionId: string): Descriptor {
    const descriptor: Descriptor = JSON.parse(readFileSync(this.descriptorPath(sessionId), "utf8"));
    return descriptor;
  }

  descriptors(): Descriptor[] {
    const names = readdirSync(join(this.path, "workers")).filter((name) => /^[-0-9a-f]{36}\.json$/.test(name));
    return names.map((name) => this.descriptor(name.slice(0, 36)));
  }

  daemon(): Identity {
    const owner = this.owner();
    if (!owner) throw new Error("nobody owns the home");
    return owner.identity;
  }

  async freeze(identity: Identity): Promise<void> {
    signal(identity, "SIGSTOP");
    await waitFor(() => isFrozen(identity), `process ${identity.pid} is frozen`);
  }

  async kill(...identities: Identity[]): Promise<void> {
    for (const identity of identities) signal(identity, "SIGKILL");
    await waitFor(() => !identities.some((identity) => isRunning(identity)), "they are gone");
  }

  /** Everything that carries the session's marker: its agent's tree. */
  async killAgents(sessions: readonly SessionProcesses[]): Promise<void> {
    await this.kill(...sessions.flatMap(({ marker }) => processesWith(marker)));
  }

  /** Workers that are not children of the daemon: only then their numbers are free while it is frozen. */
  async adoptAll(): Promise<void> {
    await this.ok("daemon", "restart");
    await this.settled();
  }

  /** Until the daemon, if one lives, has nothing to start, to recover or to stop any more. */
  async settled(): Promise<void> {
    const isSettled = (): boolean => {
      const owner = this.owner();
      if (!owner || owner.phase === "stopped" || !isRunning(owner.identity)) return true;
      return owner.phase === "serving" && this.descriptors().every(isCalm);
    };
    await waitFor(isSettled, "the home is settled", 20_000);
  }

  /** Ends what runs in the namespace, but for this program, its shell, and the sessions of these numbers. */
  async endOthers(numbers: readonly number[]): Promise<void> {
    const isOther = ({ pid }: Identity): boolean =>
      pid !== 1 && pid !== process.pid && !numbers.includes(sessionNumber(pid) ?? 0);
    await waitFor(() => {
      const others = everyProcess().filter(isOther);
      for (const other of others) signal(other, "SIGKILL");
      return others.length === 0;
    }, "nothing of ours is left");
  }

  /** A home that nobody has used. */
  clear(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Records as the dead left them, FIFOs and sockets included. */
  save(): void {
    execFileSync("cp", ["-a", this.path, `${this.path}.saved`]);
  }

  restore(): void {
    this.clear();
    execFileSync("cp", ["-a", `${this.path}.saved`, this.path]);
  }

  /** As if the newcomer had started in the same tick as the one whose number it has. */
  recordTicks(path: string, startTicks: string): void {
    const text = readFileSync(path, "utf8");
    const backdated = text.replace(/"startTicks":"\d+"/, `"startTicks":"${startTicks}"`);
    if (!backdated.includes(`"startTicks":"${startTicks}"`)) throw new Error(`${path} names no start tick`);
    writeFileSync(path, backdated);
  }
}
