import type { Clock, ProcessObserver, ProcessPorts, Signal } from "@holdfast/shared-process";
import { createObserver } from "@holdfast/shared-process";
import { FakeProcessTable } from "@holdfast/shared-process/testing";
import { SimProcess } from "./sim-process.ts";
import type { ProcessRequest } from "./sim-process.ts";
import type { World } from "./world.ts";

const FIRST_PID = 100;
const INIT_PID = 1;
const WALL_START_MS = 1_700_000_000_000;
const ALL_SIGNALS: readonly Signal[] = ["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP", "SIGCONT", "SIGSTOP"];
/** What an open process shows to nobody but root. */
const HIDDEN = { stat: "EACCES", status: "EACCES", environ: "EACCES", again: "EACCES" };

export interface MachineOptions {
  readonly machineId: string;
  /** How many numbers there are: the fewer, the sooner they are given again. */
  readonly pidCount: number;
  /** Whether processes are held by pidfd, or looked at again in the turn of the signal. */
  readonly backend: "pidfd" | "narrow";
  /** Whether init waits for what nobody else does; in many containers it does not. */
  readonly initReaps: boolean;
  readonly drift: number;
}

/** One boot of a simulated machine: its process table and its clocks. */
export class Machine {
  readonly world: World;
  readonly bootId: string;
  readonly #options: MachineOptions;
  readonly #table = new FakeProcessTable(INIT_PID);
  readonly #processes = new Map<number, SimProcess>();
  readonly #bootedAt: number;
  /** By how much the wall clock is wrong; steps at will. */
  #wallError = 0;
  #nextPid = FIRST_PID;
  #nextStart = 1;

  constructor(world: World, options: MachineOptions) {
    this.world = world;
    this.#options = options;
    const digits = world.random.hex(12);
    this.bootId = `00000000-0000-4000-8000-${digits}`;
    this.#bootedAt = world.scheduler.now - 60_000;
    this.#table.files.set("/etc/machine-id", `${options.machineId}\n`);
    this.#table.files.set("/proc/sys/kernel/random/boot_id", `${this.bootId}\n`);
    this.#table.onDelivered = (pid, signal) => this.#delivered(pid, signal);
  }

  get machineId(): string {
    return this.#options.machineId;
  }

  processes(): SimProcess[] {
    return [...this.#processes.values()];
  }

  /** Nothing of it runs until it is woken by what is returned; time goes on. */
  suspend(): () => void {
    const suspended = this.processes().filter((process) => process.isAlive && !process.isFrozen);
    for (const process of suspended) process.freeze();
    return () => suspended.forEach((process) => process.thaw());
  }

  setWallClock(errorMs: number): void {
    this.#wallError = errorMs;
  }

  spawn(request: ProcessRequest): SimProcess {
    const pid = this.#freePid();
    const process = new SimProcess(this, pid, request);
    this.#processes.set(pid, process);
    // A number that is given again within one tick is more than the narrow way promises: it takes at least one.
    this.#nextStart = Math.max(this.#nextStart + 1, Math.floor(this.world.scheduler.now / 10));
    const leader = request.detached || request.parent === null ? pid : request.parent.pid;
    this.#table.start({
      pid,
      command: request.kind === "supervisor" ? "holdfastd" : request.kind,
      ppid: request.parent?.pid ?? INIT_PID,
      startTicks: String(this.#nextStart),
      environment: request.environment,
      pgrp: leader,
      session: leader,
      ignores: ALL_SIGNALS,
    });
    return process;
  }

  /** Shows a frozen process as stopped. */
  showState(process: SimProcess): void {
    if (process.isAlive) this.#table.change(process.pid, { state: process.isFrozen ? "T" : "S" });
  }

  /** Leaves a zombie, until its parent or init waits for it. */
  ended(process: SimProcess): void {
    this.#table.end(process.pid);
    for (const child of this.#processes.values()) {
      if (child.parent !== process) continue;
      child.orphan();
      if (!child.isAlive) this.#reapLater(child);
    }
    this.#reapLater(process);
  }

  #reapLater(process: SimProcess): void {
    const { parent } = process;
    if (parent === null && !this.#options.initReaps) return;
    this.world.scheduler.plan(this.world.random.between(0, 20), `${process.label} is reaped`, () => {
      const reap = (): void => {
        if (this.#processes.get(process.pid) !== process) return;
        this.#processes.delete(process.pid);
        this.#table.reap(process.pid);
      };
      // A parent that is frozen waits for nobody; one that ended meanwhile has left it to init.
      if (process.parent === null) reap();
      else process.parent.enter(reap);
    });
  }

  hide(process: SimProcess): void {
    if (!process.isAlive) return;
    process.wasHidden = true;
    this.#table.change(process.pid, { unreadable: HIDDEN });
  }

  show(process: SimProcess): void {
    // Also its zombie; whoever has the number by now was never hidden.
    if (this.#processes.get(process.pid) === process) this.#table.change(process.pid, { unreadable: {} });
  }

  clockOf(process: SimProcess): Clock {
    const { scheduler } = this.world;
    return {
      now: () => Math.floor(WALL_START_MS + this.#wallError + scheduler.now * (1 + this.#options.drift)),
      monotonic: () => scheduler.now - this.#bootedAt,
      setTimer: (delayMs, callback) => {
        if (!process.isAlive) return { [Symbol.dispose]: () => undefined };
        let isWanted = true;
        // Disposed of while it waits for a thaw, it does not run either.
        const run = (): void => {
          if (isWanted) callback();
        };
        const planned = scheduler.plan(delayMs, `${process.label} timer`, () => process.enter(run));
        return {
          [Symbol.dispose]: () => {
            isWanted = false;
            planned[Symbol.dispose]();
          },
        };
      },
    };
  }

  /** The machine's processes as one of them sees them. */
  portsOf(process: SimProcess): ProcessPorts {
    const table = this.#table;
    return {
      platform: "linux",
      pid: process.pid,
      uid: table.uid,
      readFile: (path) => table.readFile(ownPath(path, process.pid)),
      readLink: (path) => (path === "/proc/self" ? String(process.pid) : table.readLink(path)),
      openFile: (path) => table.openFile(ownPath(path, process.pid)),
      readAgain: (fd) => table.readAgain(fd),
      closeFile: (fd) => table.closeFile(fd),
      listDirectory: (path) => table.listDirectory(path),
      kill: (pid, signal) => {
        process.touch(`kill ${signal}`);
        this.#signaller = process;
        table.kill(pid, signal);
      },
    };
  }

  observerOf(process: SimProcess): ProcessObserver {
    const ports = this.portsOf(process);
    const clock = this.clockOf(process);
    if (this.#options.backend === "narrow") return createObserver({ mode: "narrow", ports, clock });
    const pidfds = this.#table.pidfds();
    const send = pidfds.send.bind(pidfds);
    pidfds.send = (...order) => {
      process.touch(`pidfd ${order[1]}`);
      this.#signaller = process;
      send(...order);
    };
    return createObserver({ mode: "narrow", ports, pidfds, clock });
  }

  #signaller: SimProcess | null = null;

  #delivered(pid: number, signal: Signal): void {
    const target = this.#processes.get(pid);
    const from = this.#signaller;
    if (target === undefined || from === null) return;
    this.world.onSignal({ from, target, signal });
    this.world.scheduler.plan(0, `${signal} to ${target.label}`, () => target.signalled(signal));
  }

  /** Throws EAGAIN when all numbers are given, zombies' included. */
  #freePid(): number {
    for (let tries = 0; tries < this.#options.pidCount; tries += 1) {
      const pid = this.#nextPid;
      this.#nextPid = pid + 1 < FIRST_PID + this.#options.pidCount ? pid + 1 : FIRST_PID;
      if (!this.#table.has(pid)) return pid;
    }
    throw Object.assign(new Error("no number is free"), { code: "EAGAIN" });
  }
}

const ownPath = (path: string, pid: number): string => path.replace(/^\/proc\/self\/(?!ns\/)/, `/proc/${pid}/`);
