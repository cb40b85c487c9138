import { findOwner } from "@holdfast/client";
import type { OwnerRecord } from "@holdfast/client/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import { confirmed } from "./confirm.ts";
import type { Context } from "./context.ts";
import { isCode } from "./reads.ts";

export type StopMode = "ask" | "force" | "keep_workers";
export interface StoppedDaemon {
  readonly stopped: boolean;
  readonly pid: number | null;
}

const POLL_MS = 25;
/** A daemon that said it stops has little left to do; what it leaves is its successor's. */
const END_TIMEOUT_MS = 10_000;

/** Ends the daemon of this home and waits until it is gone; without one there is nothing to do. */
export async function stopDaemon(context: Context, mode: StopMode): Promise<StoppedDaemon> {
  const found = findOwner(context.options.home);
  const record = found.kind === "found" ? found.record : null;
  try {
    const { pid } = await request(context, mode, record);
    if (record) await untilGone(context.options.home, record);
    return { stopped: true, pid };
  } catch (error) {
    if (isCode(error, "daemon_not_running")) return { stopped: false, pid: null };
    throw error;
  }
}

async function request(context: Context, mode: StopMode, record: OwnerRecord | null): Promise<{ pid: number }> {
  const client = await context.clientWithoutStart();
  try {
    return await client.call("daemon/stop", { mode, requestId: await context.mutationId() });
  } catch (error) {
    // Another protocol cannot be asked; the signal means the same to every daemon: leave the workers to the next one.
    if (isCode(error, "version_mismatch") && mode === "keep_workers" && record) return await terminate(record, error);
    if (!isCode(error, "daemon_busy") || mode !== "ask") throw error;
    await context.notice(error instanceof Error ? error.message : "sessions are busy");
    if (!(await confirmed(context, "interrupt them? [y/N] ", "nothing was touched"))) throw error;
    return await client.call("daemon/stop", { mode: "force", requestId: await context.mutationId("force") });
  }
}

async function terminate(record: OwnerRecord, mismatch: unknown): Promise<{ pid: number }> {
  const [{ createObserver }, { signalOwner }] = await Promise.all([
    import("@holdfast/shared-process"),
    import("@holdfast/daemon-supervisor/offline"),
  ]);
  if (signalOwner(createObserver({ mode: "narrow" }), record, "SIGTERM")) return { pid: record.identity.pid };
  throw mismatch;
}

async function untilGone(home: string, { epoch }: OwnerRecord): Promise<void> {
  const { ownerState } = await import("@holdfast/daemon-supervisor/offline");
  const deadline = performance.now() + END_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const state = ownerState(home);
    if (state.kind === "none" || state.kind === "gone" || state.kind === "stopped") return;
    if (state.record !== null && state.record.epoch !== epoch) return;
    await sleep(POLL_MS);
  }
}
