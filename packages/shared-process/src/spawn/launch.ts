import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { existsSync } from "node:fs";
import type { Cgroup } from "../cgroup/cgroup.ts";
import { errnoOf, reasonOf } from "../errors.ts";
import { defaultObserver } from "../observe/default.ts";
import type { ProcessHandle, ProcessObserver } from "../types.ts";
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
  /** By whom the child is identified and held; by default one that loads the library where it is installed. */
  readonly observer?: ProcessObserver;
}

export interface PlacedLaunch extends LaunchOptions {
  /**
   * Of the child, from the turn of its spawn on, and of all that it forks; one that waits at a gate has forked nothing by then. A
   * failure to put it there is not one of the launch.
   */
  readonly cgroup?: Cgroup | null;
}

export interface Launched {
  readonly kind: "launched";
  readonly child: UnreapedChild & ChildProcess;
  /** Let go when the child has ended. */
  readonly handle: ProcessHandle;
  readonly observer: ProcessObserver;
  /** `null`: it is in none of ours. */
  readonly cgroup: Cgroup | null;
}

/**
 * Starts a program in a session of its own and takes hold of it in the same turn: a launch without an identity fails
 * (I61).
 */
export async function launch(options: PlacedLaunch, stdio: StdioOptions): Promise<Launched | LaunchFailure> {
  let child: ChildProcess;
  try {
    child = spawn(options.command, [...options.args], { env: options.env, cwd: options.cwd, detached: true, stdio });
  } catch (error) {
    return failure(options, error);
  }
  if (!hasPid(child)) return failure(options, await spawnErrorOf(child));
  const observer = options.observer ?? defaultObserver();
  const adopted = observer.adopt(child);
  // Not being in a group of its own is no reason not to run.
  const cgroup = options.cgroup?.add(child.pid).kind === "done" ? options.cgroup : null;
  child.on("error", () => {
    // After a spawn that succeeded Node reports only failed kills and messages here, and neither goes through it.
  });
  if (adopted.kind === "opened" && adopted.handle.identity.bootId !== null) {
    const { handle } = adopted;
    handle.onExit(() => handle[Symbol.dispose]());
    return { kind: "launched", child, handle, observer, cgroup };
  }
  if (adopted.kind === "opened") adopted.handle[Symbol.dispose]();
  for (const stream of child.stdio) stream?.destroy();
  await signalUnreaped(child, child.pid, "SIGKILL");
  const why = adopted.kind === "unknown" ? adopted.why : "boot id";
  if (why === "descriptors-exhausted")
    return failed("too_many_open_files", `No descriptors left to hold ${options.command}`);
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
