import { ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import { FakeClock, FakePidfds, type FakeProcess, FakeProcessTable } from "../testing/index.ts";
import type { OpenResult, ProcessHandle, ProcessIdentity, ProcessObserver } from "../types.ts";
import { createObserver, type ObserverOptions } from "./create.ts";

export const PID = 42;

/**
 * `pidfd` has everything that the kernel offers, `ticks` is a kernel before 6.9, whose pidfds carry no id, and `narrow` is
 * without the library.
 */
export type Backend = "pidfd" | "ticks" | "narrow";
export const BACKENDS = ["pidfd", "ticks", "narrow"] as const;

/** What is expected of each back-end. */
export type Each<T> = Readonly<Record<Backend, T>>;
export const all = <T>(expected: T): Each<T> => ({ pidfd: expected, ticks: expected, narrow: expected });

export interface World {
  readonly table: FakeProcessTable;
  /** The calls of the observer, also where it has none. */
  readonly pidfds: FakePidfds;
  readonly clock: FakeClock;
  readonly observer: ProcessObserver;
  /** Of process 42, as this back-end records it. */
  readonly recorded: ProcessIdentity;
  /** Everything that was called since. */
  readonly calls: string[];
}

export interface WorldOptions extends Pick<ObserverOptions, "mode" | "library"> {
  readonly process?: Partial<FakeProcess>;
  readonly features?: Partial<FakePidfds["features"]>;
}

/** A machine on which process 42 runs, and an observer that has recorded it. */
export function world(backend: Backend, options: WorldOptions = {}): World {
  const { mode = "narrow", library = "at-first-use", process = {}, features = {} } = options;
  const table = new FakeProcessTable();
  const clock = new FakeClock();
  const lacks = backend === "ticks" ? { kernelIds: false, groupSignals: false, exitStatus: false, peers: false } : {};
  const pidfds = table.pidfds({ ...lacks, ...features });
  table.start({ pid: PID, ppid: table.pid, environment: { GENERATION: "g1", LANG: "C" }, ...process });
  const own = backend === "narrow" ? {} : { pidfds };
  const observer = createObserver({ mode, library, ports: table, clock, ...own });
  const seen = observer.identify(PID);
  if (seen.kind !== "identified") throw new Error(`not identified: ${seen.why}`);
  const calls: string[] = [];
  table.beforeCall = (call) => calls.push(call);
  return { table, pidfds, clock, observer, recorded: seen.identity, calls };
}

/** Descriptors that nobody has closed. */
export const openDescriptors = ({ table, pidfds }: World): number => table.openCount + pidfds.openCount;

export function opened(result: OpenResult): ProcessHandle {
  if (result.kind !== "opened") throw new Error(`not opened: ${result.kind}`);
  return result.handle;
}

export const open = ({ observer, recorded }: World): ProcessHandle => opened(observer.open(recorded));

/** A child as Node gives it, before its end is told. */
export const childWith = (fields: { pid?: number; exitCode?: number; signalCode?: NodeJS.Signals }): ChildProcess =>
  Object.assign(new ChildProcess(), fields);

/** The fake takes the descriptor of the socket for the number of the peer. */
export const socketOf = (peer: number): Socket => Object.assign(new Socket(), { _handle: { fd: peer } });
