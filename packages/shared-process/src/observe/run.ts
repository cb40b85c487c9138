import { spawnSync } from "node:child_process";
import { systemError } from "./system.ts";

/** Runs a program of the system and waits. Returns what it printed, whatever its exit code; throws system errors. */
export type Run = (command: string, args: readonly string[]) => string;

/** A cold PowerShell on a slow machine takes seconds; a program that hangs must not hold the caller for ever. */
const TIMEOUT_MS = 10_000;

/** The explicit locale and zone keep `ps` from printing dates as the caller's user likes them (I99, I158). */
export const systemRun: Run = (command, args) => {
  const env = { LC_ALL: "C", TZ: "UTC0" };
  const { error, stdout } = spawnSync(command, args, {
    encoding: "latin1",
    env,
    stdio: ["ignore", "pipe", "ignore"],
    timeout: TIMEOUT_MS,
    windowsHide: true,
  });
  if (error !== undefined) throw error;
  if (typeof stdout !== "string") throw systemError("EIO", command);
  return stdout;
};
