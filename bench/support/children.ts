import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";

const living = new Set<ChildProcess>();
let ending = false;

/** True once the run is being ended: nothing new may begin. */
export const isEnding = (): boolean => ending;

/** Starts a program that is ended with the run at the latest. */
export function start(argv: readonly [string, ...string[]], options: SpawnOptions): ChildProcess {
  if (ending) throw new Error("the run is being ended");
  const [command, ...args] = argv;
  const child = spawn(command, args, options);
  living.add(child);
  child.once("exit", () => living.delete(child));
  return child;
}

export async function end(child: ChildProcess): Promise<void> {
  if (!living.has(child)) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

export async function endChildren(): Promise<void> {
  ending = true;
  await Promise.all([...living].map(end));
}

export interface Finished {
  readonly wallMs: number;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** Runs a program that has to succeed; its output goes nowhere. */
export function finish(argv: readonly [string, ...string[]], env: Environment): Promise<Finished> {
  const from = performance.now();
  return finished(start(argv, { env, cwd: "/", stdio: ["ignore", "ignore", "pipe"] }), from);
}

/** For what ends the rest: started also when the run is being ended, and out of reach of the terminal's Ctrl-C. */
export function finishLast([command, ...args]: readonly [string, ...string[]], env: Environment): Promise<Finished> {
  const child = spawn(command, args, { env, cwd: "/", detached: true, stdio: ["ignore", "ignore", "pipe"] });
  return finished(child, performance.now());
}

function finished(child: ChildProcess, from: number): Promise<Finished> {
  return new Promise((resolve, reject) => {
    let stderr = "";
    let wallMs = 0;
    child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.once("error", reject);
    child.once("exit", () => (wallMs = performance.now() - from));
    child.once("close", (code) => {
      if (code === 0) resolve({ wallMs, stderr });
      else reject(new Error(`${child.spawnargs.join(" ")}: exit ${code}: ${stderr}`));
    });
  });
}

/** What a program that has to succeed writes to its standard output. */
export async function outputOf(argv: readonly [string, ...string[]]): Promise<string> {
  const child = start(argv, { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await finished(child, performance.now());
  return text;
}

/** User and system time of a program in milliseconds; bash says it to the millisecond. */
export async function cpuOf(argv: readonly string[], env: Environment): Promise<number> {
  const line = `TIMEFORMAT='%3U %3S'; time "$@" >/dev/null 2>&1`;
  const { stderr } = await finish(["bash", "--noprofile", "--norc", "-c", line, "bash", ...argv], env);
  const [user = Number.NaN, system = Number.NaN] = stderr.trim().split(" ").map(Number);
  return (user + system) * 1_000;
}
