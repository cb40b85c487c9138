import { Socket } from "node:net";
import type { Cgroup } from "../cgroup/cgroup.ts";
import { systemClock } from "../clock.ts";
import { CodedError, invariant } from "../errors.ts";
import type { ExitInfo, ExitWatch, ProcessHandle, ProcessIdentity, Signal, SignalOutcome } from "../types.ts";
import { MAX_MESSAGE_BYTES } from "./gate.ts";
import { launch, type Launched, type LaunchFailure, type PlacedLaunch } from "./launch.ts";
import { signalUnreaped } from "./unreaped.ts";

export interface GatedSpawnOptions extends PlacedLaunch {
  /** Where the child's standard error goes: nowhere, or to a descriptor of ours, never to our own stream by itself. */
  readonly standardError: "ignore" | number;
  /** Becomes descriptor 4 of the child. */
  readonly lifelineFd?: number;
}

/**
 * A child that waits at its gate (descriptor 3) until `openGate`, and ends by itself when the gate closes without a
 * word.
 */
export interface GatedProcess extends ExitWatch {
  readonly identity: ProcessIdentity;
  /** For as long as it lives; let go when it has ended. */
  readonly handle: ProcessHandle;
  /** The group that was asked for, if it took the child. */
  readonly cgroup: Cgroup | null;
  /**
   * Lets the child run with one line of text. Throws `gate_used` when the gate was opened or closed before, and
   * `gate_message_too_long`, with nothing written, for one of 4 MiB or more.
   */
  openGate(message: string): void;
  /** Closes the gate unopened; what has not ended after a second is killed. Resolves when the child has ended. */
  discard(): Promise<void>;
  signal(signal: Signal): Promise<SignalOutcome>;
  /** Lets this process end without waiting for the child. */
  unref(): void;
}

/** How long a discarded child may take to read end-of-file: it has done nothing yet, so there is nothing to lose. */
const DISCARD_GRACE_MS = 1_000;

/** stdin and stdout are never inherited; the child leads a session of its own. */
export async function spawnGated(
  options: GatedSpawnOptions,
): Promise<{ readonly kind: "spawned"; readonly process: GatedProcess } | LaunchFailure> {
  const lifeline = options.lifelineFd === undefined ? [] : [options.lifelineFd];
  const launched = await launch(options, ["ignore", "ignore", options.standardError, "pipe", ...lifeline]);
  return launched.kind === "failed" ? launched : { kind: "spawned", process: gatedProcess(launched) };
}

function gatedProcess({ child, handle, cgroup }: Launched): GatedProcess {
  const gate = child.stdio[3];
  invariant(gate instanceof Socket, "Node makes a socket of each pipe to a child");
  gate.on("error", () => {
    // The child ended before it read its gate (EPIPE); its exit tells the same.
  });
  gate.once("finish", () => gate.destroy());
  const { identity } = handle;
  let used = false;
  const signal = (name: Signal): Promise<SignalOutcome> => signalUnreaped(child, identity.pid, name);
  return {
    get exited(): Promise<ExitInfo> {
      return handle.exited;
    },
    onExit: (callback) => handle.onExit(callback),
    identity,
    handle,
    cgroup,
    signal,
    openGate: (message) => {
      invariant(!message.includes("\n"), "the gate's message is one line");
      if (used) throw new CodedError("gate_used", "The gate was opened or closed before");
      const line = Buffer.from(`${message}\n`);
      if (line.length > MAX_MESSAGE_BYTES) {
        throw new CodedError("gate_message_too_long", `The gate's message takes more than ${MAX_MESSAGE_BYTES} bytes`);
      }
      used = true;
      gate.end(line);
    },
    discard: async () => {
      used = true;
      gate.destroy();
      const timer = systemClock.setTimer(DISCARD_GRACE_MS, () => void signal("SIGKILL"));
      await handle.exited;
      timer[Symbol.dispose]();
    },
    unref: () => {
      child.unref();
      gate.unref();
    },
  };
}
