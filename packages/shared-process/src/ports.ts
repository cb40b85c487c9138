import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import type { Signal } from "./types.ts";

/**
 * The few calls on the system by which processes are observed and signalled. All are synchronous and throw system
 * errors.
 */
export interface ProcessPorts {
  readonly platform: string;
  readonly pid: number;
  /** The real user of this process; -1 where there are no users. */
  readonly uid: number;
  /** Latin-1 text, so that each byte stays one character. */
  readFile(path: string): string;
  readLink(path: string): string;
  /** A descriptor for a file of /proc. That of `/proc/PID/stat` stays with its process: `ESRCH` once that is reaped. */
  openFile(path: string): number;
  /** The whole file anew, as `readFile`. */
  readAgain(fd: number): string;
  closeFile(fd: number): void;
  listDirectory(path: string): readonly string[];
  /** A negative pid means a process group. Callers have validated it: `process.kill` turns odd values into 0 or 1. */
  kill(pid: number, signal: Signal | 0): void;
}

// One read of a file of /proc is one consistent snapshot; reusing the buffer halves the cost of a verdict.
const buffer = Buffer.allocUnsafe(16_384);

function readProcFile(path: string): string {
  const fd = openSync(path, "r");
  try {
    const length = readSync(fd, buffer, 0, buffer.length, null);
    if (length < buffer.length) return buffer.toString("latin1", 0, length);
  } finally {
    closeSync(fd);
  }
  return readFileSync(path, "latin1");
}

/** For files that are shorter than the buffer, as all but environments are. */
const readAgain = (fd: number): string => buffer.toString("latin1", 0, readSync(fd, buffer, 0, buffer.length, 0));

export const systemPorts: ProcessPorts = {
  platform: process.platform,
  pid: process.pid,
  uid: process.getuid?.() ?? -1,
  readFile: readProcFile,
  readLink: (path) => readlinkSync(path),
  openFile: (path) => openSync(path, "r"),
  readAgain,
  closeFile: closeSync,
  listDirectory: (path) => readdirSync(path),
  kill: (pid, signal) => {
    process.kill(pid, signal);
  },
};
