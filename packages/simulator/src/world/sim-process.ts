import type { Signal } from "@holdfast/shared-process";
import type { Machine } from "./machine.ts";

export type Kind = "supervisor" | "worker" | "agent" | "stray" | "stranger";

/** What a call of a process that has ended throws: whatever still runs of its code reaches nothing any more. */
export class Ended extends Error {
  override readonly name = "Ended";
}

export interface ProcessRequest {
  readonly kind: Kind;
  readonly label: string;
  readonly parent: SimProcess | null;
  readonly environment: Readonly<Record<string, string>>;
  /** Of the session it leads, or its parent's. */
  readonly detached: boolean;
  readonly ignores?: readonly Signal[];
}

/** A process of a simulated machine: code that runs while it lives and is not frozen. */
export class SimProcess {
  readonly machine: Machine;
  readonly kind: Kind;
  readonly label: string;
  readonly pid: number;
  readonly environment: Readonly<Record<string, string>>;
  /** What it does on SIGTERM; without, it ends. */
  onTerminate: (() => void) | null = null;
  /** At some time nobody could read whose it is. */
  wasHidden = false;
  #parent: SimProcess | null;
  #state: "running" | "frozen" | "ended" = "running";
  readonly #waiting: (() => void)[] = [];
  readonly #onEnd: (() => void)[] = [];
  /** Calls on its world until it is killed in the middle of one; `null`: it is not. */
  #fuse: number | null = null;
  readonly #ignores: readonly Signal[];

  constructor(machine: Machine, pid: number, request: ProcessRequest) {
    this.machine = machine;
    this.pid = pid;
    this.kind = request.kind;
    this.label = request.label;
    this.environment = request.environment;
    this.#parent = request.parent;
    this.#ignores = request.ignores ?? [];
  }

  get parent(): SimProcess | null {
    return this.#parent;
  }

  get isAlive(): boolean {
    return this.#state !== "ended";
  }

  get isFrozen(): boolean {
    return this.#state === "frozen";
  }

  /** Runs now, or when it is thawed, or never. */
  enter(run: () => void): void {
    if (this.#state === "running") run();
    else if (this.#state === "frozen") this.#waiting.push(run);
  }

  /** Of each call on its world: throws when it has ended, and ends it when its fuse has burnt down. */
  touch(call: string): void {
    if (this.#state === "ended") throw new Ended(call);
    if (this.#fuse === null) return;
    this.#fuse -= 1;
    if (this.#fuse > 0) return;
    this.machine.world.trace(`${this.label} is killed at ${call}`);
    this.end();
    throw new Ended(call);
  }

  /** To be killed in its `calls`th call from now. */
  light(calls: number): void {
    this.#fuse = calls;
  }

  unlight(): void {
    this.#fuse = null;
  }

  freeze(): void {
    if (this.#state === "running") this.#state = "frozen";
    this.machine.showState(this);
  }

  thaw(): void {
    if (this.#state !== "frozen") return;
    this.#state = "running";
    this.machine.showState(this);
    for (const run of this.#waiting.splice(0))
      this.machine.world.scheduler.plan(0, `${this.label} goes on`, () => this.enter(run));
  }

  onEnd(run: () => void): void {
    if (this.#state === "ended") run();
    else this.#onEnd.push(run);
  }

  orphan(): void {
    this.#parent = null;
  }

  signalled(signal: Signal): void {
    if (this.#state === "ended" || this.#ignores.includes(signal)) return;
    switch (signal) {
      case "SIGSTOP":
        return this.freeze();
      case "SIGCONT":
        return this.thaw();
      case "SIGKILL":
        return this.end();
      case "SIGTERM":
      case "SIGINT":
      case "SIGHUP": {
        const { onTerminate } = this;
        return this.enter(() => (onTerminate ? onTerminate() : this.end()));
      }
    }
  }

  end(): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#waiting.length = 0;
    this.machine.ended(this);
    for (const run of this.#onEnd.splice(0)) run();
  }
}
