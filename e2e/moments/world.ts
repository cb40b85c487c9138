import { constants, readFileSync } from "node:fs";
import { systemWorld } from "../../packages/daemon-supervisor/src/world.ts";
import type { World } from "../../packages/daemon-supervisor/src/world.ts";
import { files } from "./orders.ts";
import type { Orders } from "./orders.ts";
import { Taps, tapped } from "./taps.ts";

type FileSystem = World["fs"];
type Clock = World["clock"];
type Observer = World["observer"];
type Host = ReturnType<World["hostOf"]>;

/** The machine itself, with a moment at each call that changes something, and a clock that can be stepped. */
export function momentWorld({ home, directory, stop }: Orders): World {
  const real = systemWorld();
  const taps = new Taps(directory, stop);
  const place = (text: string): string => placeOf(home, text);
  return {
    ...real,
    fs: tappedFiles(real.fs, taps, place),
    clock: steppedClock(real.clock, files(directory).clock),
    observer: tappedObserver(real.observer, taps),
    dial: (path) => taps.pass(`dial ${place(path)}`, () => real.dial(path)),
    hostOf: (context) => tappedHost(real.hostOf(context), taps),
    treesOf: (context) =>
      tapped(real.treesOf(context), taps, (method) => (method === "forget" ? "" : `tree ${method}`)),
  };
}

/** The same name in each run: without ids, numbers of owners and the random part of a copy. */
function placeOf(home: string, path: string): string {
  return path
    .replace(home, "")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?/g, "*")
    .replace(/\.[0-9a-f]{12}\.tmp$/, ".tmp")
    .replace(/owner\/\d+/, "owner/#")
    .replace(/run\/d\d+/, "run/d#");
}

const byDescriptor = new Set(["write", "fdatasync", "fdatasyncAsync", "fsync", "fsyncAsync", "ftruncate"]);
const byPath = new Set(["mkdir", "rmdir", "unlink", "rename", "link"]);

function tappedFiles(real: FileSystem, taps: Taps, place: (path: string) => string): FileSystem {
  const paths = new Map<number, string>();
  const known: FileSystem = {
    ...real,
    open: (path, flags, mode) => {
      const fd = real.open(path, flags, mode);
      paths.set(fd, path);
      return fd;
    },
  };
  return tapped(known, taps, (method, args) => {
    const [first, second] = args;
    if (typeof first === "number") return byDescriptor.has(method) ? `${method} ${place(paths.get(first) ?? "")}` : "";
    if (typeof first !== "string") return "";
    // Of a copy that takes its place, the place is the name.
    if (typeof second === "string") return byPath.has(method) ? `${method} ${place(second)}` : "";
    const makes = method === "open" && typeof second === "number" && (second & constants.O_CREAT) !== 0;
    return makes || byPath.has(method) ? `${method} ${place(first)}` : "";
  });
}

const sends = (method: string, [signal]: unknown[]): string => (method === "signal" ? `signal ${String(signal)}` : "");

function tappedObserver(real: Observer, taps: Taps): Observer {
  const held = (opened: ReturnType<Observer["open"]>): ReturnType<Observer["open"]> =>
    opened.kind === "opened" ? { ...opened, handle: tapped(opened.handle, taps, sends) } : opened;
  return {
    ...real,
    open: (...args) => held(real.open(...args)),
    adopt: (...args) => held(real.adopt(...args)),
    signal: (...args) => taps.pass(`signal ${args[1]}`, () => real.signal(...args)),
  };
}

const gate = (method: string): string => (method === "openGate" ? "open gate" : method === "discard" ? "discard" : "");

function tappedHost(real: Host, taps: Taps): Host {
  return {
    createLifeline: (path) => taps.pass("lifeline", () => real.createLifeline(path)),
    spawn: async (order) => {
      const launched = await taps.pass("spawn", () => real.spawn(order));
      if (launched.kind === "failed") return launched;
      return { ...launched, process: tapped(launched.process, taps, gate) };
    },
  };
}

/** How often a timer of a clock that can be stepped looks whether it is due. */
const LOOK_MS = 20;

function steppedClock(real: Clock, path: string): Clock {
  const ahead = (): { readonly wallMs: number; readonly monotonicMs: number } => {
    try {
      return JSON.parse(readFileSync(path, "utf8"));
    } catch {
      // The test has not stepped it.
      return { wallMs: 0, monotonicMs: 0 };
    }
  };
  const monotonic = (): number => real.monotonic() + ahead().monotonicMs;
  return {
    now: () => real.now() + ahead().wallMs,
    monotonic,
    setTimer: (delayMs, callback, options) => {
      const due = monotonic() + delayMs;
      let timer: Disposable;
      const look = (): void => {
        const left = due - monotonic();
        if (left <= 0) return callback();
        timer = real.setTimer(Math.min(left, LOOK_MS), look, options);
      };
      timer = real.setTimer(Math.min(delayMs, LOOK_MS), look, options);
      return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
    },
  };
}
