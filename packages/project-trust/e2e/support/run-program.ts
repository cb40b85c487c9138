import { build } from "esbuild";
import { execa } from "execa";
import { fileURLToPath } from "node:url";
import { Temporary } from "../../src/temporary.testing.ts";
import { baseEnv } from "./obstacle.ts";

interface ProgramOptions {
  /** In a mount namespace of its own: what it mounts is seen nowhere else, and goes with it. */
  readonly mounts?: boolean;
  /** A command that runs another one, with its arguments. */
  readonly under?: readonly string[];
  readonly uid?: number;
  readonly args?: readonly string[];
}

/** Far more than any takes. */
const TIMEOUT_MS = 30_000;

/**
 * Runs a program of `programs/` to its end, with a directory of its own as first argument, and gives the object it
 * printed.
 */
export async function runProgram<T>(
  name: string,
  { mounts = false, under = [], uid = 0, args = [] }: ProgramOptions = {},
): Promise<T> {
  using temporary = new Temporary();
  const program = temporary.at("program.mjs");
  const entryPoints = [fileURLToPath(new URL(`../programs/${name}.ts`, import.meta.url))];
  const conditions = ["@holdfast/source"];
  await build({
    entryPoints,
    outfile: program,
    conditions,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
  });
  const room = temporary.directory("room");
  const inside = mounts ? ["unshare", "--mount", "--propagation", "private"] : [];
  const as = uid === 0 ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
  if (uid !== 0) await execa("chmod", ["0711", temporary.path, room]);
  const [command = "", ...rest] = [...inside, ...under, ...as, process.execPath, program, room, ...args];
  const { stdout } = await execa(command, rest, { env: baseEnv, extendEnv: false, cwd: "/", timeout: TIMEOUT_MS });
  return JSON.parse(stdout);
}
