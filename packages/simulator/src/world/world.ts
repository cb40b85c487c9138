import { syncDirectory } from "@holdfast/recovery-journal";
import { SimulatedDisk } from "@holdfast/recovery-journal/testing";
import type { CallName } from "@holdfast/recovery-journal/testing";
import type { Decided } from "@holdfast/daemon-supervisor/testing";
import type { Ids, Signal } from "@holdfast/shared-process";
import { Checks } from "../checks.ts";
import { Random } from "../random.ts";
import type { Swarm } from "../swarm.ts";
import { Machine } from "./machine.ts";
import { Network } from "./network.ts";
import { Scheduler } from "./scheduler.ts";
import { SimIds } from "./sim-ids.ts";
import type { SimProcess } from "./sim-process.ts";
import { HOME, SimSupervisor } from "./sim-supervisor.ts";

export interface SentSignal {
  readonly from: SimProcess;
  readonly target: SimProcess;
  readonly signal: Signal;
}

/** Without the random part of a temporary file's name. */
const withoutChance = (text: string): string => text.replaceAll(/\.[0-9a-f]{12}\.tmp/g, ".tmp");

export interface DiskFault {
  readonly call: CallName;
  readonly errno: string;
  readonly effect: "none" | "half" | "all";
  readonly left: number;
}

type LaunchFailure = { readonly code: "spawn_failed" | "too_many_open_files"; readonly message: string };

/** One home on one disk, the machines that reach it, and everything that runs there, under a seed. */
export class World {
  readonly random: Random;
  readonly scheduler = new Scheduler();
  readonly ids: Ids;
  readonly checks: Checks;
  readonly swarm: Swarm;
  readonly lines: string[] = [];
  /** Hits per cell of the lifecycle's table: `state event outcome`. */
  readonly cells = new Map<string, number>();
  disk: SimulatedDisk = new SimulatedDisk();
  machine: Machine;
  readonly otherHost: Machine;
  network: Network;
  readonly supervisors: SimSupervisor[] = [];
  /** Faults come while this is set. */
  isFaulty = true;
  #labels = 0;

  constructor(seed: number, swarm: Swarm) {
    this.random = new Random(seed);
    this.swarm = swarm;
    this.ids = new SimIds(this.random);
    this.checks = new Checks(this);
    this.machine = this.#boot("a");
    this.otherHost = this.#boot("b");
    this.network = new Network(this);
    this.disk.mkdir(HOME, 0o700);
    syncDirectory(this.disk, "/");
  }

  #boot(host: string): Machine {
    return new Machine(this, {
      machineId: host.repeat(32),
      pidCount: this.swarm.pidCount,
      backend: this.swarm.backend,
      initReaps: this.swarm.initReaps,
      drift: this.swarm.drift,
    });
  }

  trace(line: string): void {
    const text = `${this.scheduler.now.toFixed(0).padStart(8)} ${withoutChance(line)}`;
    this.lines.push(text);
    this.onLine?.(text);
  }

  onLine: ((line: string) => void) | null = null;

  /** From now on nothing goes wrong, and what went wrong is mended. */
  calm(): void {
    this.trace("calm");
    this.isFaulty = false;
    this.disk.heal();
    this.diskFault = null;
    this.#diskStandsUntil = 0;
    for (const machine of [this.machine, this.otherHost]) {
      for (const process of machine.processes()) {
        process.thaw();
        process.unlight();
        machine.show(process);
      }
    }
    // It says that it stopped: of one that just ended nobody here could tell (I163).
    for (const { process } of this.supervisors) if (process.machine === this.otherHost) process.signalled("SIGTERM");
  }

  nextLabel(kind: string): string {
    this.#labels += 1;
    return `${kind}${this.#labels}`;
  }

  startSupervisor(machine: Machine = this.machine, successorOf?: number): void {
    try {
      this.supervisors.push(new SimSupervisor(this, machine, successorOf));
    } catch (error) {
      this.trace(`no supervisor: ${String(error)}`);
    }
  }

  serving(): SimSupervisor | null {
    return this.supervisors.findLast((one) => one.serves && one.process.machine === this.machine) ?? null;
  }

  /** Whether one lives that serves, or will, or says that it cannot. */
  isSupervised(): boolean {
    return this.supervisors.some(({ process }) => process.isAlive && process.machine === this.machine);
  }

  decided(process: SimProcess, { before, event, decision, sessionId }: Decided): void {
    if (!process.isAlive) return;
    const cell = `${before.name} ${event.type} ${decision.kind}`;
    if (decision.kind !== "stale") this.cells.set(cell, (this.cells.get(cell) ?? 0) + 1);
    const outcome = decision.kind === "move" ? decision.state.name : decision.kind;
    this.trace(`${process.label} ${this.nameOf(sessionId)} ${before.name} × ${event.type} → ${outcome}`);
  }

  /** Ids are long; a trace counts sessions. */
  nameOf(sessionId: string): string {
    const name = this.#names.get(sessionId) ?? `s${this.#names.size + 1}`;
    this.#names.set(sessionId, name);
    return name;
  }

  readonly #names = new Map<string, string>();

  onSignal({ from, target, signal }: SentSignal): void {
    this.trace(`${from.label} sends ${signal} to ${target.label}`);
    this.checks.signalled({ from, target, signal });
  }

  /** The error to come of the disk, for whoever makes the call. */
  diskFault: DiskFault | null = null;

  /** To be called before a call on the disk, by whoever makes it. */
  prepare(call: string): void {
    const fault = this.diskFault;
    if (fault === null || fault.call !== call) return;
    this.diskFault = fault.left > 1 ? { ...fault, left: fault.left - 1 } : null;
    if (fault.left <= 1) this.disk.inject(fault);
  }

  diskDelay(): number {
    return this.#diskStandsUntil > this.scheduler.now
      ? this.#diskStandsUntil - this.scheduler.now
      : this.random.between(0, 3);
  }

  #diskStandsUntil = 0;

  stallDisk(ms: number): void {
    this.#diskStandsUntil = this.scheduler.now + ms;
  }

  linkDelay(): number {
    return this.random.between(0, 4);
  }

  spawnFailure(): LaunchFailure | null {
    if (!this.isFaulty || !this.random.chance(this.swarm.spawnFailures)) return null;
    return this.random.pick([
      { code: "spawn_failed", message: "the program cannot be started" },
      { code: "too_many_open_files", message: "no descriptor is free" },
    ] as const);
  }

  /** From a word to whoever starts a program until it is there. */
  startDelay(usualMs: number): number {
    const { random, swarm } = this;
    return this.isFaulty && random.chance(swarm.slowStarts) ? random.between(usualMs, 50_000) : usualMs;
  }

  agentFailure(): { readonly terminal: boolean; readonly reason: string } | null {
    if (!this.isFaulty || !this.random.chance(this.swarm.agentFailures)) return null;
    return { terminal: this.random.chance(0.3), reason: "the agent does not start" };
  }

  /** Everything that runs ends at once; of what was not synced, some is there afterwards and some is not. */
  cutPower(): void {
    for (const process of this.machine.processes()) process.end();
    const seed = this.random.between(1, 1 << 30);
    let left = this.random.between(0, 12);
    let chosen: SimulatedDisk | null = null;
    for (const state of this.disk.crashStates({ seed, names: 0, cuts: 2, mixtures: 0, samples: 2 })) {
      chosen = state;
      if (left-- <= 0) break;
    }
    if (chosen) this.disk = chosen;
    this.machine = this.#boot("a");
    this.network = new Network(this);
  }
}
