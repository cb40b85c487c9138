import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { removeCgroups } from "./cgroups.ts";

/** What the first process of the namespace runs. A shell reaps what others leave; Node would not. */
const FIRST = '"$@"; exit $?';

export interface NamespaceRun {
  /** A TypeScript program. Its first argument is an empty directory, which is removed at the end. */
  readonly program: URL;
  readonly args: readonly string[];
  readonly timeoutMs: number;
}

/**
 * Runs a program in a pid namespace with a /proc of its own, where it alone decides which process gets which number,
 * and where `ps --force-stop --all` finds nobody else. Gives the objects that it printed, one a line. What it started
 * ends with it.
 */
export async function inPrivateNamespace<T>({ program, args, timeoutMs }: NamespaceRun): Promise<T[]> {
  const root = mkdtempSync(join(tmpdir(), "hf-ns-"));
  try {
    const outfile = join(root, "program.mjs");
    const entryPoints = [fileURLToPath(program)];
    await build({ entryPoints, outfile, bundle: true, format: "esm", platform: "node", target: "node20" });
    const { code, stdout, stderr } = await run(outfile, [root, ...args], timeoutMs);
    if (code !== 0) throw new Error(`exit ${code}: ${stderr}`);
    const lines = stdout.split("\n").filter((line) => line !== "");
    return lines.map((line): T => JSON.parse(line));
  } finally {
    // The homes lie in `r`; whoever ended with the namespace has left their groups empty.
    if (existsSync(join(root, "r"))) removeCgroups(join(root, "r"));
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function run(
  program: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const isolated = ["--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", FIRST, "sh"];
  const child = spawn("unshare", [...isolated, process.execPath, program, ...args], {
    env: { PATH: process.env["PATH"], LANG: "C.UTF-8" },
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (bytes: Buffer) => (said[name] += bytes.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, ...said };
}
