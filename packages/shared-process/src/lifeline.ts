import { execFile } from "node:child_process";
import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
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
    if (errnoOf(error) === "ENOENT" && isMissing(path)) {
      throw new CodedError("lifeline_unavailable", "The program mkfifo was not found", { data, cause: error });
    }
    if (!isMissing(path)) throw new CodedError("lifeline_exists", `${path} exists already`, { data, cause: error });
    throw new CodedError("lifeline_unavailable", `Cannot make ${path}: ${reasonOf(error)}`, { data, cause: error });
  }
}

function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined;
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

/** Opening a FIFO write-only and non-blocking gives ENXIO exactly when nobody has it open for reading. */
export function probeLifeline(path: string): LifelineState {
  try {
    // A socket file answers ENXIO as well, which would be no proof of anything.
    if (!lstatSync(path).isFIFO()) return "unknown";
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW));
    return "held";
  } catch (error) {
    return errnoOf(error) === "ENXIO" ? "released" : "unknown";
  }
}
