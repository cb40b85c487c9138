import type { SentSignal, World } from "./world/world.ts";
import type { SimProcess } from "./world/sim-process.ts";

interface Launched {
  readonly sessionId: string;
  readonly generation: string;
  readonly worker: SimProcess;
  isLetThrough: boolean;
  serves: boolean;
}

interface Revivals {
  readonly open: number;
  readonly asked: number;
}

const DESCRIPTOR = /\/workers\/([0-9a-f-]{36})\.json$/;

/** What must hold at each moment, judged by the world itself and not by what the product believes. */
export class Checks {
  readonly violations: string[] = [];
  readonly #world: World;
  readonly #launched: Launched[] = [];
  readonly #runs = new Map<string, number>();
  /** Sessions that were told as stopped, with nobody since who wants them back. */
  readonly #quiet = new Set<string>();
  readonly #reviving = new Map<string, Revivals>();
  #epoch = 0;

  constructor(world: World) {
    this.#world = world;
  }

  violated(what: string): void {
    this.violations.push(what);
    this.#world.trace(`VIOLATION ${what}`);
  }

  runsOf(request: string): number {
    return this.#runs.get(request) ?? 0;
  }

  /** Who lives for a session, let through or not. */
  livingOf(sessionId: string): readonly Launched[] {
    return this.#launched.filter((one) => one.sessionId === sessionId && one.worker.isAlive);
  }

  get launched(): readonly Launched[] {
    return this.#launched;
  }

  owns(epoch: number, process: SimProcess): void {
    if (epoch <= this.#epoch) this.violated(`I165 ${process.label} claims epoch ${epoch} after ${this.#epoch}`);
    this.#epoch = Math.max(this.#epoch, epoch);
  }

  spawning(sessionId: string): void {
    const living = this.livingOf(sessionId).filter(({ isLetThrough }) => isLetThrough);
    if (living.length > 0)
      this.violated(`I144 ${this.#world.nameOf(sessionId)} is launched beside ${living[0]?.worker.label}`);
  }

  spawned(sessionId: string, generation: string, worker: SimProcess): void {
    this.#launched.push({ sessionId, generation, worker, isLetThrough: false, serves: false });
  }

  letThrough(sessionId: string, worker: SimProcess): void {
    for (const launched of this.livingOf(sessionId)) if (launched.worker === worker) launched.isLetThrough = true;
  }

  /** A worker has opened the session's files. */
  serves(sessionId: string, worker: SimProcess): void {
    const name = this.#world.nameOf(sessionId);
    const living = this.livingOf(sessionId);
    const other = living.find((one) => one.serves && one.worker !== worker);
    if (other) this.violated(`I144 ${worker.label} serves ${name} beside ${other.worker.label}`);
    for (const launched of living) if (launched.worker === worker) launched.serves = true;
    if (this.#quiet.has(sessionId)) this.violated(`I129 ${worker.label} serves ${name}, which was told as stopped`);
  }

  unlinking(path: string): void {
    const sessionId = DESCRIPTOR.exec(path)?.[1];
    const living = sessionId === undefined ? [] : this.livingOf(sessionId).filter(({ isLetThrough }) => isLetThrough);
    if (living.length > 0) this.violated(`I16 the descriptor of ${living[0]?.worker.label} goes while it lives`);
  }

  signalled({ from, target, signal }: SentSignal): void {
    const isOurs = target.kind === "worker" || target.kind === "agent" || target.kind === "stray";
    if (!isOurs) this.violated(`I131 ${from.label} sends ${signal} to ${target.label}`);
  }

  /** A request reached its agent. */
  ran(request: string): void {
    const runs = this.runsOf(request) + 1;
    this.#runs.set(request, runs);
    this.#world.trace(`${request} runs`);
    if (runs > 1) this.violated(`I143 I161 ${request} ran ${runs} times`);
  }

  problem(process: SimProcess, session: string, message: string): void {
    if (!process.isAlive) return;
    this.#world.trace(`${process.label} ${session} ${message}`);
    if (message.startsWith("bug:")) this.violated(`${session} ${message}`);
  }

  /** Somebody asks for it to run; to be paired with `wantedBack`. */
  wantsBack(sessionId: string): void {
    this.#quiet.delete(sessionId);
    const { open, asked } = this.#revivals(sessionId);
    this.#reviving.set(sessionId, { open: open + 1, asked: asked + 1 });
  }

  wantedBack(sessionId: string): void {
    const { open, asked } = this.#revivals(sessionId);
    this.#reviving.set(sessionId, { open: open - 1, asked });
  }

  /** How often somebody has asked for it to run; `null` while somebody waits for that. */
  askedFor(sessionId: string): number | null {
    const { open, asked } = this.#revivals(sessionId);
    return open === 0 ? asked : null;
  }

  /** A stop that was sent when it had been asked for so often was answered: it is stopped, or will be. */
  toldOfStop(sessionId: string, told: { readonly state: string; readonly askedBefore: number | null }): void {
    const { open, asked } = this.#revivals(sessionId);
    if (open !== 0 || asked !== told.askedBefore) return;
    const name = this.#world.nameOf(sessionId);
    if (told.state === "stopped") this.#quiet.add(sessionId);
    else if (told.state !== "stopping") this.violated(`I129 a stop of ${name} was answered with ${told.state}`);
  }

  #revivals(sessionId: string): Revivals {
    return this.#reviving.get(sessionId) ?? { open: 0, asked: 0 };
  }
}
