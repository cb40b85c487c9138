import { spawnSync } from "node:child_process";
import { baseEnv } from "./fixture.ts";

/** What a program prints. It must end by itself, and well. */
export function outputOf(command: readonly string[]): string {
  const [name, ...args] = command;
  const { status, stdout, stderr } = spawnSync(name ?? "", args, { env: baseEnv, cwd: "/", encoding: "utf8" });
  if (status !== 0) throw new Error(`${name} ended by ${status}: ${stderr}`);
  return stdout;
}
