import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { errnoOf, reasonOf } from "../errors.ts";
import { createHostReader } from "../observe/host.ts";
import { capture } from "../observe/narrow.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import type { ProcessIdentity } from "../types.ts";
import { signalUnreaped, type UnreapedChild } from "./unreaped.ts";

export type LaunchFailureCode =
  | "too_many_open_files"
  | "command_not_found"
  | "permission_denied"
  | "spawn_failed"
  | "identity_unreadable";

export interface LaunchFailure {
  readonly kind: "failed";
  readonly code: LaunchFailureCode;
  readonly message: string;
}

export interface LaunchOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child; nothing is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface Launched {
  readonly kind: "launched";
  readonly child: UnreapedChild & ChildProcess;
  readonly identity: ProcessIdentity;
}

/**
 * Starts a program in a session of its own and reads its identity in the same turn: a launch without one fails (I61).
 */
export async function launch(
  options: LaunchOptions,
  stdio: StdioOptions,
  ports: ProcessPorts = systemPorts,
): Promise<Launched | LaunchFailure> {
  let child: ChildProcess;
  try {
    child = spawn(options.command, [...options.args], { env: options.env, cwd: options.cwd, detached: true, stdio });
  } catch (error) {
    return failure(options, error);
  }
  if (!hasPid(child)) return failure(options, await spawnErrorOf(child));
  const captured = capture(ports, createHostReader(ports)(), child.pid);
  child.on("error", () => {
    // After a spawn that succeeded Node reports only failed kills and messages here, and neither goes through it.
  });
  if (captured.kind === "identified" && captured.identity.bootId !== null) {
    return { kind: "launched", child, identity: captured.identity };
  }
  for (const stream of child.stdio) stream?.destroy();
  await signalUnreaped(child, child.pid, "SIGKILL");
  const why = captured.kind === "identified" ? "boot id" : captured.why;
  return failed("identity_unreadable", `Cannot read which process ${options.command} became (${why})`);
}

function failed(code: LaunchFailureCode, message: string): LaunchFailure {
  return { kind: "failed", code, message };
}

function hasPid(child: ChildProcess): child is ChildProcess & UnreapedChild {
  return child.pid !== undefined;
}

/** With no descriptors left Node throws nothing: pid and streams are undefined and the error comes later. */
function spawnErrorOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => {
    child.once("error", resolve);
  });
}

function failure(options: LaunchOptions, error: unknown): LaunchFailure {
  const errno = errnoOf(error);
  switch (errno ?? "") {
    case "EMFILE":
    case "ENFILE":
      return failed("too_many_open_files", `No descriptors left to start ${options.command}`);
    case "ENOENT":
      // The kernel gives the same error for a missing working directory.
      if (!existsSync(options.cwd)) return failed("spawn_failed", `The directory ${options.cwd} does not exist`);
      return failed("command_not_found", `The command ${options.command} was not found`);
    case "EACCES":
    case "EPERM":
      return failed("permission_denied", `Not permitted to run ${options.command} in ${options.cwd}`);
    default:
      return failed("spawn_failed", `Cannot start ${options.command}: ${reasonOf(error)}`);
  }
}
