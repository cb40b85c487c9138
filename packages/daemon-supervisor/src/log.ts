import { pino } from "pino";
import type { Logger } from "pino";
import { logsFolder } from "./home.ts";

/** JSON lines; written at once, so that the last words of a process that dies are there. */
export function createLog(home: string, foreground: boolean): Logger {
  const file = pino.destination({ dest: `${logsFolder(home)}/supervisor.log`, sync: true, mode: 0o600 });
  const options = {
    level: "info",
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ["*.token", "*.marker", "process.token", "process.marker", "environment"],
  };
  if (!foreground) return pino(options, file);
  return pino(
    options,
    pino.multistream([{ stream: file }, { level: "warn", stream: pino.destination({ dest: 2, sync: true }) }]),
  );
}
