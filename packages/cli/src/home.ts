import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { usage } from "./usage.ts";

/** The state directory: `--home`, else `$HOLDFAST_HOME`, else `$XDG_STATE_HOME/holdfast`, else `~/.local/state/holdfast`; absolute. */
export function homeOf(option: string | undefined, env: NodeJS.ProcessEnv, cwd: () => string): string {
  if (option !== undefined) {
    if (option === "") throw usage("--home is empty", "agent --home DIR …");
    return resolve(cwd(), option);
  }
  const named = env["HOLDFAST_HOME"];
  if (named) return isAbsolute(named) ? resolve(named) : resolve(cwd(), named);
  const state = env["XDG_STATE_HOME"];
  // A relative XDG directory is to be ignored, says its specification.
  if (state && isAbsolute(state)) return join(state, "holdfast");
  return join(env["HOME"] || homedir(), ".local/state/holdfast");
}

/** Refuses a file, or a path below one, before anything is read or started there. */
export function checkHome(home: string): string {
  try {
    // By one name, whatever way leads to it.
    if (statSync(home).isDirectory()) return realpathSync(home);
  } catch (error) {
    // Not there yet, or not to be seen: whoever uses it says so better.
    if (!(error instanceof Error && "code" in error && error.code === "ENOTDIR")) return home;
  }
  throw usage(`${home} is not a directory`, "agent --home DIR …");
}
