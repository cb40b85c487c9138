import { Duplex, type Readable, type Writable } from "node:stream";
import { invariant } from "../errors.ts";
import type { ExitInfo, ExitWatch, ProcessHandle, ProcessIdentity, Signal, SignalOutcome } from "../types.ts";
import { launch, type Launched, type LaunchFailure, type LaunchOptions } from "./launch.ts";
import type { Spare } from "../tree/ancestry.ts";
import { signalGroupSparing } from "./group.ts";
import { signalUnreaped } from "./unreaped.ts";

export interface OwnedSpawnOptions extends LaunchOptions {
  /** So many more pipes, from descriptor 3 of the child on. */
  readonly extraPipes?: number;
}

/** A program of ours, such as an agent: it leads a session and a group of its own and talks through pipes. */
export interface OwnedProcess extends ExitWatch {
  readonly identity: ProcessIdentity;
  /** For as long as it lives; let go when it has ended. */
  readonly handle: ProcessHandle;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly pipes: readonly Duplex[];
  signal(signal: Signal): Promise<SignalOutcome>;
  /**
   * To the whole group, or to its members one by one when some are to be spared. Only while its leader is not reaped:
   * after that the number may be another group's.
   */
  signalGroup(signal: Signal, spare?: Spare): Promise<SignalOutcome>;
}

export async function spawnOwned(
  options: OwnedSpawnOptions,
): Promise<{ readonly kind: "spawned"; readonly process: OwnedProcess } | LaunchFailure> {
  const extra = Array.from({ length: options.extraPipes ?? 0 }, () => "pipe" as const);
  const launched = await launch(options, ["pipe", "pipe", "pipe", ...extra]);
  return launched.kind === "failed" ? launched : { kind: "spawned", process: ownedProcess(launched) };
}

function ownedProcess({ child, handle, observer }: Launched): OwnedProcess {
  const { stdin, stdout, stderr } = child;
  const { identity } = handle;
  invariant(stdin !== null && stdout !== null && stderr !== null, "standard streams of an owned process are pipes");
  const pipes = child.stdio.slice(3).filter((stream) => stream instanceof Duplex);
  for (const stream of [stdin, stdout, stderr, ...pipes]) {
    stream.on("error", () => {
      // The program closed its end (EPIPE, ECONNRESET); its exit or the stream's close tells the same.
    });
  }
  return {
    get exited(): Promise<ExitInfo> {
      return handle.exited;
    },
    onExit: (callback) => handle.onExit(callback),
    identity,
    handle,
    stdin,
    stdout,
    stderr,
    pipes,
    signal: (signal) => signalUnreaped(child, identity.pid, signal),
    signalGroup: (signal, spare) =>
      spare ? signalGroupSparing(child, signal, { spare, observer }) : signalUnreaped(child, -identity.pid, signal),
  };
}
