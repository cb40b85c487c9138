import { CodedError } from "../errors.ts";
import type { ProcessPorts } from "../ports.ts";
import { FakeClock } from "../testing/index.ts";
import type { ProcessIdentity, ProcessObserver, Signal } from "../types.ts";
import type { MacosLibrary } from "./macos/library.ts";
import { createMacosObserver } from "./macos/observer.ts";
import type { Run } from "./run.ts";
import type { WindowsLibrary } from "./windows/library.ts";
import { createWindowsObserver } from "./windows/observer.ts";

export const PID = 4712;

export interface MadeUp {
  readonly pid: number;
  /** Its kernel id, and by it its name in `delivered`. */
  readonly serial: number;
  /** Microseconds since the epoch on macOS, a FILETIME on Windows. */
  readonly start: bigint;
  readonly state: "S" | "T" | "Z";
  readonly group: number;
  /** By default the observing process. */
  readonly parent: number;
  readonly idVersion: number;
  readonly environment: readonly string[];
  /** Of another user: it can be seen, and not signalled. */
  readonly foreign: boolean;
  /** It is there, and the system tells nothing else of it. */
  readonly hidden: boolean;
}

/** Processes of a made-up machine, and its kill(2). */
export abstract class World implements ProcessPorts {
  abstract readonly platform: string;
  readonly pid = 40;
  readonly uid = 501;
  readonly clock = new FakeClock();
  readonly processes = new Map<number, MadeUp>();
  readonly delivered: { readonly serial: number; readonly signal: Signal; readonly toGroup?: true }[] = [];
  readonly calls: string[] = [];
  /** What a program prints in place of its answer. */
  printed: string | null = null;
  machine: string | null = "aaaaaaaa-0000-4000-8000-000000000001";
  boot: string | null = "bbbbbbbb-0000-4000-8000-000000000001";
  /** Runs before each call; a test may change the world there. */
  beforeCall: (call: string) => void = () => {};

  constructor() {
    this.start({ pid: this.pid, serial: 1 });
    this.start({ pid: PID, serial: 2 });
  }

  abstract observer(mode?: "refuse" | "narrow"): ProcessObserver;

  start(process: Partial<MadeUp> & Pick<MadeUp, "pid" | "serial">): void {
    this.processes.set(process.pid, {
      start: 1_700_000_000_123_456n + BigInt(process.serial) * 10_000_000n,
      state: "S",
      group: process.pid,
      parent: this.pid,
      idVersion: process.serial * 10,
      environment: ["GENERATION=g1", "LANG=C"],
      foreign: false,
      hidden: false,
      ...process,
    });
  }

  change(fields: Partial<MadeUp>): void {
    this.processes.set(PID, { ...this.#at(PID), ...fields });
  }

  reap(): void {
    this.processes.delete(PID);
  }

  /** There is no /proc. */
  openFile(path: string): never {
    throw new CodedError("ENOENT", path);
  }

  readAgain(fd: number): never {
    throw new CodedError("EBADF", String(fd));
  }

  closeFile(fd: number): never {
    throw new CodedError("EBADF", String(fd));
  }

  kill(pid: number, signal: Signal | 0): void {
    this.call(`kill ${pid} ${signal}`);
    const process = this.#at(Math.abs(pid));
    if (this.platform === "win32" && process.state === "Z") throw failure("ESRCH");
    if (process.foreign) throw failure("EPERM");
    if (signal !== 0) this.delivered.push({ serial: process.serial, signal, ...(pid < 0 && { toGroup: true }) });
  }

  call(call: string): void {
    this.calls.push(call);
    this.beforeCall(call);
  }

  /** Throws as a system does for a process that is not there, or not to be seen. */
  visible(pid: number): MadeUp {
    const process = this.#at(pid);
    if (process.hidden) throw failure("EPERM");
    return process;
  }

  #at(pid: number): MadeUp {
    const process = this.processes.get(pid);
    if (process === undefined) throw failure("ESRCH");
    return process;
  }

  // Neither system has a /proc.
  readFile(): string {
    throw failure("ENOENT");
  }
  readLink(): string {
    throw failure("ENOENT");
  }
  listDirectory(): readonly string[] {
    throw failure("ENOENT");
  }
}

export class MacosWorld extends World {
  readonly platform = "darwin";
  readonly #library: MacosLibrary | null;

  constructor(withLibrary: boolean) {
    super();
    this.#library = withLibrary ? this.#fakeLibrary() : null;
  }

  observer(mode: "refuse" | "narrow" = "narrow"): ProcessObserver {
    const { clock } = this;
    return createMacosObserver({ ports: this, mode, clock, library: this.#library, reason: null, run: this.#run });
  }

  #fakeLibrary(): MacosLibrary {
    return {
      process: (pid) => {
        this.call(`look ${pid}`);
        const { serial, idVersion, start, state, group, parent, foreign } = this.visible(pid);
        const startMicros = foreign ? null : String(start);
        const status = { S: 2, T: 4, Z: 5 }[state];
        return { uniqueId: String(serial), idVersion, startMicros, status, group, parent };
      },
      signal: (pid, idVersion, signal) => {
        this.call(`signal ${pid}`);
        const process = this.visible(pid);
        if (process.idVersion !== idVersion || process.state === "Z") throw failure("ESRCH");
        if (process.foreign) throw failure("EPERM");
        this.delivered.push({ serial: process.serial, signal });
      },
      programArea: (pid) => {
        this.call(`environment ${pid}`);
        const { environment, foreign, state } = this.visible(pid);
        if (foreign || state === "Z") throw failure("EINVAL");
        const texts = ["/bin/node", "", "", "node", "GENERATION=argument", ...environment, "", "stack_guard=0x1", ""];
        return Buffer.concat([Buffer.from([2, 0, 0, 0]), Buffer.from(texts.join("\0"))]);
      },
      bootSession: () => known(this.boot).toUpperCase(),
      hostUuid: () => known(this.machine),
    };
  }

  readonly #run: Run = (command, args) => {
    this.call(`${command} ${args.join(" ")}`);
    if (command === "/usr/sbin/sysctl") return `${known(this.boot).toUpperCase()}\n`;
    if (command === "/usr/sbin/ioreg") return `  "IOPlatformUUID" = "${known(this.machine).toUpperCase()}"\n`;
    if (this.printed !== null) return this.printed;
    const process = this.processes.get(Number(args.at(-1)));
    if (process === undefined || process.hidden) return "";
    const date = new Date(Number(process.start / 1000n)).toUTCString();
    const [, weekday, day, month, year, time] = /^(\w+), (\d+) (\w+) (\d+) ([\d:]+) GMT$/.exec(date) ?? [];
    const state = process.state === "Z" ? "Z" : `${process.state}s+`;
    const started = `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
    return `${started} ${state.padEnd(5)} ${process.group} ${process.parent}\n`;
  };
}

export class WindowsWorld extends World {
  readonly platform = "win32";
  /** Process objects that are held now. */
  held = 0;
  readonly #library: WindowsLibrary | null;

  constructor(withLibrary: boolean) {
    super();
    this.#library = withLibrary ? this.#fakeLibrary() : null;
  }

  observer(mode: "refuse" | "narrow" = "narrow"): ProcessObserver {
    const { clock } = this;
    return createWindowsObserver({ ports: this, mode, clock, library: this.#library, reason: null, run: this.#run });
  }

  #fakeLibrary(): WindowsLibrary {
    return {
      open: (pid, right) => {
        this.call(right === "query" ? `look ${pid}` : `signal ${pid}`);
        const { serial, start, foreign, state } = this.visible(pid);
        if (foreign && right === "terminate") throw failure("EPERM");
        this.held += 1;
        let isOpen = true;
        const now = (): MadeUp | undefined =>
          [...this.processes.values()].find((process) => process.serial === serial && process.state !== "Z");
        return {
          created: String(start),
          hasEnded: () => state === "Z" || now() === undefined,
          exitCode: () => 7,
          terminate: () => {
            if (now() === undefined) throw failure("ESRCH");
            this.delivered.push({ serial, signal: "SIGKILL" });
          },
          close: () => {
            if (isOpen) this.held -= 1;
            isOpen = false;
          },
        };
      },
      machineGuid: () => known(this.machine),
    };
  }

  readonly #run: Run = (command, args) => {
    const script = args.at(-1) ?? "";
    if (command.endsWith("reg.exe")) return `\r\n    MachineGuid    REG_SZ    ${known(this.machine)}\r\n`;
    const pid = Number(/GetProcessById\((\d+)\)/.exec(script)?.[1]);
    const expected = /-ne (\d+)/.exec(script)?.[1];
    this.call(expected === undefined ? `look ${pid}` : `signal ${pid}`);
    if (this.printed !== null) return this.printed;
    const process = this.processes.get(pid);
    if (process === undefined) return "ESRCH\r\n";
    if (process.hidden || (process.foreign && expected !== undefined)) return "EPERM\r\n";
    if (expected === undefined) return `${process.start} ${process.state === "Z" ? "ended" : "runs"}\r\n`;
    if (expected !== String(process.start) || process.state === "Z") return "ESRCH\r\n";
    this.delivered.push({ serial: process.serial, signal: "SIGKILL" });
    return "killed\r\n";
  };
}

export const failure = (errno: string): CodedError => new CodedError(errno, errno);

function known(id: string | null): string {
  if (id === null) throw failure("ENOENT");
  return id;
}

export const variants = [
  { name: "macos-library", create: () => new MacosWorld(true) },
  { name: "macos-narrow", create: () => new MacosWorld(false) },
  { name: "windows-library", create: () => new WindowsWorld(true) },
  { name: "windows-narrow", create: () => new WindowsWorld(false) },
] as const satisfies readonly { readonly name: string; readonly create: () => World }[];

/** What the observer records of the made-up process. Nothing has been called and delivered after it. */
export function record(world: World, observer: ProcessObserver = world.observer()): ProcessIdentity {
  const seen = observer.identify(PID);
  if (seen.kind !== "identified") throw failure(seen.why);
  world.calls.length = 0;
  return seen.identity;
}
