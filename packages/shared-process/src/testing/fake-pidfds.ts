import type { PidfdFeatures, PidfdLibrary, PidfdState } from "../library/pidfd.ts";
import type { ExitInfo, Signal } from "../types.ts";
import { systemError } from "./system-error.ts";

/** What the fake needs of a process table: who has a number, by a serial that is never given twice. */
export interface PidfdTable {
  serialOf(pid: number): number | null;
  isThread(pid: number): boolean;
  stateOf(pid: number): "alive" | "ended";
  kill(pid: number, signal: Signal | 0): void;
  killGroup(leader: number, signal: Signal | 0): void;
  /** Runs before each call. */
  beforeCall(call: string): void;
}

interface Held {
  readonly pid: number;
  readonly serial: number;
}

const ALL: PidfdFeatures = { kernelIds: true, groupSignals: true, exitStatus: true, peers: true };

/** The pidfd calls of a made-up machine: descriptors stay with their process whatever becomes of its number. */
export class FakePidfds implements PidfdLibrary {
  readonly features: PidfdFeatures;
  /** Errno that the next `open` gives, once. */
  openFails: string | null = null;
  /** Errno that each `watch` gives, as epoll does with no descriptor left; `null` for none. */
  watchFails: string | null = null;
  /** What ended processes leave behind, by number. */
  readonly statuses = new Map<number, ExitInfo["status"]>();
  readonly #table: PidfdTable;
  readonly #held = new Map<number, Held>();
  readonly #watches = new Set<{
    readonly fd: number;
    readonly until: "ended" | "reaped";
    readonly callback: () => void;
  }>();
  #lastFd = 100;

  constructor(table: PidfdTable, features: Partial<PidfdFeatures> = {}) {
    this.#table = table;
    this.features = { ...ALL, ...features };
  }

  /** How many descriptors are open: what nobody closed is a leak. */
  get openCount(): number {
    return this.#held.size;
  }

  /** How many ends are being watched for. */
  get watchCount(): number {
    return this.#watches.size;
  }

  open(pid: number): number {
    this.#table.beforeCall(`pidfd_open ${pid}`);
    const errno = this.openFails;
    this.openFails = null;
    if (errno !== null) throw systemError(errno);
    if (this.#table.isThread(pid)) throw systemError("ENOENT");
    const serial = this.#table.serialOf(pid);
    if (serial === null) throw systemError("ESRCH");
    this.#lastFd += 1;
    this.#held.set(this.#lastFd, { pid, serial });
    return this.#lastFd;
  }

  close(fd: number): void {
    if (!this.#held.delete(fd)) throw systemError("EBADF");
  }

  inodeOf(fd: number): string {
    const { pid, serial } = this.#of(fd);
    this.#table.beforeCall(`pidfd_fstat ${pid}`);
    return String(1_000 + serial);
  }

  stateOf(fd: number): PidfdState {
    const { pid, serial } = this.#of(fd);
    this.#table.beforeCall(`pidfd_poll ${pid}`);
    return this.#table.serialOf(pid) === serial ? this.#table.stateOf(pid) : "reaped";
  }

  send(fd: number, signal: Signal | 0, target: "process" | "group"): void {
    const { pid, serial } = this.#of(fd);
    this.#table.beforeCall(`pidfd_send_signal ${pid} ${signal} ${target}`);
    const holder = this.#table.serialOf(pid);
    // A group outlives its leader, and its number goes to nobody before the last member has ended.
    const isBound = holder === serial || (target === "group" && holder === null);
    if (!isBound) throw systemError("ESRCH");
    if (target === "group") this.#table.killGroup(pid, signal);
    else this.#table.kill(pid, signal);
  }

  exitStatusOf(fd: number): ExitInfo["status"] {
    const { pid, serial } = this.#of(fd);
    const isReaped = this.#table.serialOf(pid) !== serial;
    return isReaped && this.features.exitStatus ? (this.statuses.get(pid) ?? null) : null;
  }

  pidOf(fd: number): number {
    const { pid, serial } = this.#of(fd);
    this.#table.beforeCall(`pidfd_fdinfo ${pid}`);
    return this.#table.serialOf(pid) === serial ? pid : -1;
  }

  /** The descriptor of the socket is taken for the number of the peer. */
  peerOf(socketFd: number): number {
    return this.open(socketFd);
  }

  watch(fd: number, until: "ended" | "reaped", callback: () => void): Disposable {
    if (this.watchFails !== null) throw systemError(this.watchFails);
    const watch = { fd, until, callback };
    this.#watches.add(watch);
    this.changed();
    return { [Symbol.dispose]: () => void this.#watches.delete(watch) };
  }

  /** To be called when the table has changed: tells the ends that are watched, in a later microtask. */
  changed(): void {
    for (const watch of this.#watches) {
      const { pid, serial } = this.#of(watch.fd);
      const state = this.#table.serialOf(pid) === serial ? this.#table.stateOf(pid) : "reaped";
      if (state === "alive" || (watch.until === "reaped" && state !== "reaped")) continue;
      queueMicrotask(() => {
        if (this.#watches.delete(watch)) watch.callback();
      });
    }
  }

  #of(fd: number): Held {
    const held = this.#held.get(fd);
    if (held === undefined) throw systemError("EBADF");
    return held;
  }
}
