import { renameSync, statSync } from "node:fs";
import { pino } from "pino";
import type { Logger } from "pino";
import { logsFolder } from "./home.ts";

/** Kept of an earlier daemon's log, once. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;

function rotate(path: string): void {
  try {
    if (statSync(path).size > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  } catch {
    // No log yet, or it cannot be moved: it goes on as it is.
  }
}

/** JSON lines; written at once, so that the last words of a process that dies are there. */
export function createLog(home: string, foreground: boolean): Logger {
  const path = `${logsFolder(home)}/supervisor.log`;
  rotate(path);
  const file = pino.destination({ dest: path, sync: true, mode: 0o600 });
  // A log that cannot be written (a full disk, a file-size limit) costs its lines and nothing else (I141).
  file.on("error", () => undefined);
  const options = {
    level: "info",
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ["*.token", "*.marker", "process.token", "process.marker", "environment"],
  };
  if (!foreground) return pino(options, file);
  const terminal = pino.destination({ dest: 2, sync: true });
  // A terminal that was hung up answers EIO, and the daemon that was started in it lives on (I151).
  terminal.on("error", () => undefined);
  return pino(options, pino.multistream([{ stream: file }, { level: "warn", stream: terminal }]));
}
