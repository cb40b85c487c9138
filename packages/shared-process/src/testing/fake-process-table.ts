import { isDefunct } from "../stat.ts";
import type { PidfdFeatures } from "../library/pidfd.ts";
import type { ProcessPorts } from "../ports.ts";
import { FakePidfds } from "./fake-pidfds.ts";
import { DEFAULTS, type FakeProcess, render } from "./fake-process.ts";
import { systemError } from "./system-error.ts";
import type { Signal } from "../types.ts";

/** A process table for tests: zombies, recycled numbers, threads and files that cannot be read, all on demand. */
export class FakeProcessTable implements ProcessPorts {
  readonly platform: string = "linux";
  readonly pid: number;
  readonly uid = 1000;
  /** Signals that were delivered, in order. */
  readonly delivered: { readonly pid: number; readonly signal: Signal }[] = [];
  /** Files and links besides those of processes. A value that begins with `!` is the error that reading gives. */
  readonly files = new Map<string, string>([
    ["/etc/machine-id", "0123456789abcdef0123456789abcdef\n"],
    ["/proc/sys/kernel/random/boot_id", "11111111-2222-4333-8444-555555555555\n"],
    ["/proc/uptime", "100.00 50.00\n"],
    ["/proc/self/ns/pid", "pid:[1]"],
    ["/proc/self/ns/time", "time:[2]"],
  ]);
  /** Runs before each call; a test may change the table there, to hit the middle of an observation. */
  beforeCall: (call: string) => void = () => {};
  /** Runs for each signal that reaches its process, before it acts. */
  onDelivered: (pid: number, signal: Signal) => void = () => {};
  readonly #processes = new Map<number, FakeProcess>();
  /** Never given twice, as the kernel's own ids. */
  readonly #serials = new Map<number, number>();
  readonly #opened = new Map<number, { readonly pid: number; readonly serial: number; readonly path: string }>();
  readonly #pidfds: FakePidfds[] = [];
  #lastSerial = 0;
  #lastFd = 10;

  constructor(pid = 10) {
    this.pid = pid;
    this.files.set("/proc/self", String(pid));
    this.start({ pid });
  }

  /** Starts a process, or puts another in the place of the one with that number. */
  start(process: Partial<FakeProcess> & Pick<FakeProcess, "pid">): FakeProcess {
    const full = { ...DEFAULTS, ...process };
    if (this.#processes.has(full.pid)) this.#orphan(full.pid);
    this.#processes.set(full.pid, full);
    this.#serials.set(full.pid, (this.#lastSerial += 1));
    this.#changed();
    return full;
  }

  /** The pidfd calls of this machine. */
  pidfds(features: Partial<PidfdFeatures> = {}): FakePidfds {
    const table = {
      serialOf: (pid: number) => this.#serials.get(pid) ?? null,
      isThread: (pid: number) => !this.#processes.has(pid) && this.#holderOf(pid) !== undefined,
      stateOf: (pid: number) => {
        const process = this.#processes.get(pid);
        return process === undefined || isDefunct(process) ? ("ended" as const) : ("alive" as const);
      },
      kill: (pid: number, signal: Signal | 0) => this.#deliver(pid, signal),
      killGroup: (leader: number, signal: Signal | 0) => this.#deliverToGroup(leader, signal),
      beforeCall: (call: string) => this.beforeCall(call),
    };
    const made = new FakePidfds(table, features);
    this.#pidfds.push(made);
    return made;
  }

  /** Changes some fields of a process that is there. */
  change(pid: number, fields: Partial<Omit<FakeProcess, "pid">>): void {
    const process = this.#processes.get(pid);
    if (process !== undefined) this.#processes.set(pid, { ...process, ...fields });
    this.#changed();
  }

  /** The process ends, and nobody waits for it. */
  end(pid: number): void {
    this.change(pid, { state: "Z", threads: 1 });
    this.#orphan(pid);
  }

  /** Its number is free again, and its children have another parent. */
  reap(pid: number): void {
    this.#processes.delete(pid);
    this.#serials.delete(pid);
    this.#orphan(pid);
    this.#changed();
  }

  /** Whether somebody has the number, be it as a zombie. */
  has(pid: number): boolean {
    return this.#processes.has(pid);
  }

  /** Numbers of the processes in a cgroup. */
  membersOf(cgroup: string): number[] {
    const members = [...this.#processes.values()].filter((process) => process.cgroup === cgroup);
    return members.filter((process) => !isDefunct(process)).map(({ pid }) => pid);
  }

  readFile(path: string): string {
    this.beforeCall(path);
    const own = /^\/proc\/(\d+)\/([a-z]+)$/.exec(path);
    if (own === null) return this.#extra(path);
    const process = this.#holderOf(Number(own[1]));
    if (process === undefined) throw systemError("ENOENT");
    const errno = process.unreadable[own[2] ?? ""];
    if (errno !== undefined) throw systemError(errno);
    return render(process, Number(own[1]), own[2] ?? "");
  }

  readLink(path: string): string {
    this.beforeCall(path);
    const [, pid, kind, name] = /^\/proc\/(\d+)\/(fd|ns)\/(\w+)$/.exec(path) ?? [];
    if (pid === undefined) return this.#extra(path);
    const process = this.#processes.get(Number(pid));
    const link = kind === "ns" ? process?.pidNamespace : process?.open[Number(name)];
    if (link === undefined) throw systemError("ENOENT");
    return link;
  }

  openFile(path: string): number {
    this.readFile(path);
    const pid = Number(/^\/proc\/(\d+)\//.exec(path)?.[1]);
    this.#lastFd += 1;
    this.#opened.set(this.#lastFd, { pid, serial: this.#serials.get(pid) ?? 0, path });
    return this.#lastFd;
  }

  readAgain(fd: number): string {
    const opened = this.#opened.get(fd);
    if (opened === undefined) throw systemError("EBADF");
    this.beforeCall(`again ${opened.path}`);
    const process = this.#processes.get(opened.pid);
    if (process === undefined || this.#serials.get(opened.pid) !== opened.serial) throw systemError("ESRCH");
    const errno = process.unreadable["again"];
    if (errno !== undefined) throw systemError(errno);
    return render(process, opened.pid, opened.path.split("/").at(-1) ?? "");
  }

  closeFile(fd: number): void {
    if (!this.#opened.delete(fd)) throw systemError("EBADF");
  }

  /** Descriptors of files that nobody has closed. */
  get openCount(): number {
    return this.#opened.size;
  }

  listDirectory(path: string): readonly string[] {
    this.beforeCall(path);
    const folder = /^\/proc\/(\d+)\/fd$/.exec(path);
    if (folder !== null) return this.#descriptorsOf(Number(folder[1]));
    const errno = this.files.get(path);
    if (errno !== undefined) throw systemError(errno.slice(1));
    return ["self", "uptime", ...[...this.#processes.keys()].map(String)];
  }

  kill(pid: number, signal: Signal | 0): void {
    this.beforeCall(`kill ${pid} ${signal}`);
    if (pid < 0) {
      if (signal !== 0) this.#deliverToGroup(-pid, signal);
      return;
    }
    this.#deliver(pid, signal);
  }

  /** To all of them in one step, as the kernel does it for a cgroup, whoever their user is. */
  killAtOnce(pids: readonly number[]): void {
    for (const pid of pids) this.#deliver(pid, "SIGKILL", true);
  }

  #deliverToGroup(leader: number, signal: Signal | 0): void {
    const members = [...this.#processes.values()].filter((process) => (process.pgrp ?? process.pid) === leader);
    if (members.length === 0) throw systemError("ESRCH");
    for (const member of members) this.#deliver(member.pid, signal);
  }

  #orphan(parent: number): void {
    for (const { pid, ppid } of this.#processes.values()) if (ppid === parent) this.change(pid, { ppid: 1 });
  }

  #changed(): void {
    for (const pidfds of this.#pidfds) pidfds.changed();
  }

  #deliver(pid: number, signal: Signal | 0, isPermitted = false): void {
    const process = this.#holderOf(pid);
    if (process === undefined) throw systemError("ESRCH");
    if (process.foreign && !isPermitted) throw systemError("EPERM");
    if (signal === 0) return;
    this.delivered.push({ pid: process.pid, signal });
    this.onDelivered(process.pid, signal);
    const harmless = signal === "SIGCONT" || signal === "SIGSTOP" || process.ignores.includes(signal);
    if (!harmless && process.state !== "Z") this.reap(process.pid);
  }

  /** kill(2) and /proc take the number of a thread for its process. */
  #holderOf(pid: number): FakeProcess | undefined {
    return this.#processes.get(pid) ?? [...this.#processes.values()].find((process) => process.threadIds.includes(pid));
  }

  #descriptorsOf(pid: number): readonly string[] {
    const process = this.#processes.get(pid);
    const errno = process === undefined ? "ENOENT" : process.unreadable["fd"];
    if (process === undefined || errno !== undefined) throw systemError(errno ?? "ENOENT");
    return process.open.map((_link, fd) => String(fd));
  }

  #extra(path: string): string {
    const text = this.files.get(path);
    if (text === undefined) throw systemError("ENOENT");
    if (text.startsWith("!")) throw systemError(text.slice(1));
    return text;
  }
}
