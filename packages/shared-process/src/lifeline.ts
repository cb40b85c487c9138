import { execFile } from "node:child_process";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { promisify } from "node:util";
import { CodedError, errnoOf, reasonOf } from "./errors.ts";

export interface Lifeline extends Disposable {
  /**
   * Open for reading and writing; give it to a child as one of its descriptors and it holds the lifeline from birth.
   */
  readonly fd: number;
}

/** `released` proves that no process holds it any more; `unknown` proves nothing. */
export type LifelineState = "held" | "released" | "unknown";

const MKFIFO_TIMEOUT_MS = 5_000;

/**
 * Makes the FIFO, mode 0600 whatever the umask is. Throws `CodedError` with code `lifeline_exists` when something has
 * that name, else
 * `lifeline_unavailable`. Node has no mkfifo(3), so the program of that name is run.
 */
export async function createLifeline(path: string): Promise<void> {
  try {
    await promisify(execFile)("mkfifo", ["-m", "600", "--", path], { timeout: MKFIFO_TIMEOUT_MS });
  } catch (error) {
    const data = { path };
    if (exists(path)) throw new CodedError("lifeline_exists", `${path} exists already`, { data, cause: error });
    const isNoProgram = errnoOf(error) === "ENOENT";
    const message = isNoProgram ? "The program mkfifo was not found" : `Cannot make ${path}: ${reasonOf(error)}`;
    throw new CodedError("lifeline_unavailable", message, { data, cause: error });
  }
}

function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    // Missing, or below what is no directory, or no path at all: in each case nothing was seen there.
    return false;
  }
}

/** Holds the lifeline until disposed or until this process ends, however it ends. Throws `lifeline_unavailable`. */
export function holdLifeline(path: string): Lifeline {
  const fd = openFifo(path);
  let open = true;
  return {
    fd,
    [Symbol.dispose]: () => {
      if (open) closeSync(fd);
      open = false;
    },
  };
}

function openFifo(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    throw new CodedError("lifeline_unavailable", `Cannot hold ${path}: ${reasonOf(error)}`, {
      data: { path },
      cause: error,
    });
  }
  if (fstatSync(fd).isFIFO()) return fd;
  closeSync(fd);
  throw new CodedError("lifeline_unavailable", `${path} is not a FIFO`, { data: { path } });
}

/**
 * A FIFO that nobody has open for writing reads as ended, one that somebody holds as empty for now. Reading, unlike opening
 * for writing, is not misled by those who watch: they are readers themselves.
 */
export function probeLifeline(path: string): LifelineState {
  let fd: number;
  try {
    fd = openReader(path);
  } catch {
    // Whatever the reason is, no holder has been seen to be gone.
    return "unknown";
  }
  try {
    return stateOf(fd);
  } finally {
    closeSync(fd);
  }
}

/** No FIFO holds more unless root has made it larger: if this much is read, somebody writes at this moment. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const unread = Buffer.allocUnsafe(64 * 1024);

/** What holders have written comes before the end, and means nothing. */
function stateOf(fd: number): LifelineState {
  try {
    for (let read = 0; read < MAX_UNREAD_BYTES;) {
      const length = readSync(fd, unread);
      if (length === 0) return "released";
      read += length;
    }
    return "held";
  } catch (error) {
    return errnoOf(error) === "EAGAIN" ? "held" : "unknown";
  }
}

/**
 * Calls once, as an event, when the last holder has let go or ended; in a later microtask when there is none. `null`: it
 * cannot be watched. The watch does not keep this process alive and holds nothing.
 */
export function watchLifeline(path: string, released: () => void): Disposable | null {
  let fd: number;
  try {
    fd = openReader(path);
  } catch {
    // As for a probe: nothing is proven, and whoever watches has another way.
    return null;
  }
  // The kernel tells a reader only of holders that it has seen: of a FIFO that nobody held when it was opened, nothing.
  if (stateOf(fd) !== "released") return watchReader(fd, released);
  closeSync(fd);
  let isWanted = true;
  queueMicrotask(() => {
    if (isWanted) released();
  });
  return { [Symbol.dispose]: () => void (isWanted = false) };
}

function watchReader(fd: number, released: () => void): Disposable {
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.once("end", released);
  socket.on("error", () => {
    // Nothing is proven by it, and the release of a FIFO has no other form than its end.
  });
  socket.resume();
  socket.unref();
  return { [Symbol.dispose]: () => void socket.off("end", released).destroy() };
}

/** Throws a system error, or `lifeline_unavailable` for what is no FIFO. */
function openReader(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  if (fstatSync(fd).isFIFO()) return fd;
  closeSync(fd);
  throw new CodedError("lifeline_unavailable", `${path} is not a FIFO`, { data: { path } });
}
