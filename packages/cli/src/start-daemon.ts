import { findOwner, probeDaemon } from "@holdfast/client";
import { DAEMON_START_TIMEOUT_MS, MAINTENANCE_TIMEOUT_MS, ProtocolError } from "@holdfast/client/protocol";
import { ensurePrivateDirectory, nodeFileSystem } from "@holdfast/recovery-journal";
import { reasonOf } from "@holdfast/shared-process";
import type { GatedProcess } from "@holdfast/shared-process";
import { closeSync, fstatSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { failureOf } from "./failure.ts";
import { logTail, readFrom } from "./log-tail.ts";
import { programs } from "./programs.ts";

/** A look is two reads of files until there is a socket; what is waited too long is a part of every start. */
const POLL_MS = 5;
/** How long a daemon that bound its socket may take for its hello within one look. */
const PROBE_MS = 1_000;
const TAIL_BYTES = 2_048;

/**
 * Starts a daemon and waits until one of this home answers: ours, or the one that won the race (I139). Throws `ProtocolError`
 * `daemon_start_failed` with what it said or kept it from being started, or what `startFailure` leaves as it is.
 */
export async function startDaemon(home: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const logs = join(home, "logs");
  const { checkSocketPaths, startSupervisor } = await import("@holdfast/daemon-supervisor/offline");
  let errors: number;
  try {
    ensurePrivateDirectory(nodeFileSystem, home);
    ensurePrivateDirectory(nodeFileSystem, logs);
    checkSocketPaths(home);
    errors = openSync(join(logs, "supervisor.err"), "a+", 0o600);
  } catch (error) {
    throw startFailure(home, error);
  }
  try {
    const said = fstatSync(errors).size;
    const spawned = await startSupervisor({ home, programs: programs(), environment });
    if (spawned.kind === "failed") throw startFailed(home, spawned.message, "");
    const child = spawned.process;
    const failure = await untilServing(home, child);
    child.unref();
    if (failure === null) return;
    const own = readFrom(errors, said, TAIL_BYTES).toString("utf8").trim();
    throw startFailed(home, failure, own || logTail(join(logs, "supervisor.log"), TAIL_BYTES).text.toString("utf8"));
  } finally {
    closeSync(errors);
  }
}

/** `null` when a daemon answers, else why none does. A home that is being stopped by force is waited for first. */
async function untilServing(home: string, child: GatedProcess): Promise<string | null> {
  const maintainedUntil = performance.now() + MAINTENANCE_TIMEOUT_MS;
  let deadline = performance.now() + DAEMON_START_TIMEOUT_MS;
  let ended: string | null = null;
  const watch = child.onExit(({ status }) => {
    // Status 0 is the loser of a race: the winner may still be on its way.
    if (status && "code" in status && status.code === 0) return;
    ended = status === null ? "it ended" : "code" in status ? `exit ${status.code}` : `killed by ${status.signal}`;
  });
  try {
    while (performance.now() < deadline) {
      if (await probeDaemon(home, PROBE_MS)) return null;
      const now = performance.now();
      if (now < maintainedUntil && isMaintained(home)) deadline = now + DAEMON_START_TIMEOUT_MS;
      if (ended !== null && !(await anotherStarts(home, child))) return ended;
      await sleep(POLL_MS);
    }
  } finally {
    watch[Symbol.dispose]();
  }
  return ended ?? `no answer within ${DAEMON_START_TIMEOUT_MS / 1_000} s`;
}

async function anotherStarts(home: string, child: GatedProcess): Promise<boolean> {
  const owner = findOwner(home);
  if (owner.kind !== "found" || ["stopped", "maintenance"].includes(owner.record.phase)) return false;
  if (owner.record.identity.pid === child.identity.pid) return false;
  const { ownerState } = await import("@holdfast/daemon-supervisor/offline");
  const state = ownerState(home);
  return state.kind !== "unknown" || !state.isElsewhere;
}

function isMaintained(home: string): boolean {
  const owner = findOwner(home);
  return owner.kind === "found" && owner.record.phase === "maintenance";
}

/** A path or a mode that has to be another one keeps its own code, `path_too_long` or `unsafe_directory`, as no start helps it. */
export function startFailure(home: string, error: unknown): unknown {
  const { code } = failureOf(error);
  return code === "unsafe_directory" || code === "path_too_long" ? error : startFailed(home, reasonOf(error), "");
}

function startFailed(home: string, why: string, said: string): ProtocolError {
  const last = said.trim().split("\n").at(-1) ?? "";
  const message = `the daemon for ${home} did not start: ${why}${last ? `: ${last}` : ""}`;
  return new ProtocolError("daemon_start_failed", message, {
    hint: "agent doctor, agent daemon logs, or agent daemon run to see it",
  });
}
