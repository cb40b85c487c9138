import { nodeFileSystem } from "@holdfast/recovery-journal";
import { createObserver, startIdOf, systemClock } from "@holdfast/shared-process";
import type { OwnerRecord } from "@holdfast/client/protocol";
import { verdictOf } from "../verdict.ts";
import { composeSupervisor } from "../compose.ts";
import type { Supervisor } from "../compose.ts";
import { readWorkerFiles } from "../descriptor-files.ts";
import { freshValues } from "../effects/context.ts";
import { createLog } from "../log.ts";
import { claimFor } from "../main.ts";
import { ownerState } from "./owner.ts";
import { planForceStop } from "./force-stop-plan.ts";

type Stopped = { kind: "daemon" | "worker" | "process" | "descriptor"; id: string; pid: number | null };
export interface ForceStopReport {
  readonly stopped: Stopped[];
  readonly kept: { kind: Stopped["kind"]; id: string; reason: string }[];
  readonly failed: (Stopped & { reason: string })[];
}

export interface ForceStopOptions {
  readonly workerProgram: string;
  readonly onProgress?: (text: string) => void;
}

/** Forced: SIGTERM, half a second, SIGKILL, one second (CLI.md §6). */
const TERM_MS = 500;
const KILL_MS = 1_000;
/** A forced stop with its sweep; what is not over by then is reported and left to the next daemon. */
const WORKER_MS = 8_000;
const POLL_MS = 20;

/** Ends the daemon by its identity, takes the home for maintenance and runs the ordinary forced stops. */
export async function forceStop(home: string, options: ForceStopOptions): Promise<ForceStopReport> {
  const report: ForceStopReport = { stopped: [], kept: [], failed: [] };
  const progress = options.onProgress ?? ((): void => undefined);
  const owner = ownerState(home);
  if (owner.kind === "unknown") {
    report.failed.push({ kind: "daemon", id: home, pid: owner.record?.identity.pid ?? null, reason: owner.why });
    return report;
  }
  if (owner.kind === "alive") {
    const { record } = owner;
    const { identity } = record;
    progress(`ending the daemon, process ${identity.pid}`);
    const ended = { kind: "daemon", id: startIdOf(identity), pid: identity.pid } as const;
    if (!(await endProcess(record))) {
      report.failed.push({ ...ended, reason: "it did not end" });
      return report;
    }
    report.stopped.push(ended);
  }
  if ((await planForceStop(home)).workers.length === 0) return report;
  const { claim, self } = await claimFor(home, "maintenance");
  if (claim.kind === "refused") {
    report.failed.push({ kind: "daemon", id: home, pid: null, reason: "another daemon took the home meanwhile" });
    return report;
  }
  const { ownership } = claim;
  const supervisor = composeSupervisor({
    home,
    workerProgram: options.workerProgram,
    epoch: ownership.epoch,
    self,
    fs: nodeFileSystem,
    observer: createObserver({ mode: "narrow" }),
    log: createLog(home, false),
    files: readWorkerFiles(nodeFileSystem, home),
    isOwner: () => ownership.isCurrent(),
    onOwnershipLost: () => undefined,
    onChanged: () => undefined,
    livingOnly: true,
  });
  try {
    await stopAll(supervisor, report, progress);
  } finally {
    await supervisor.release();
    ownership.leave();
  }
  return report;
}

async function stopAll(
  { boot, context, sessions }: Supervisor,
  report: ForceStopReport,
  progress: (text: string) => void,
): Promise<void> {
  const { registry } = context;
  boot();
  const asked = registry.sessionIds().map((sessionId) => {
    const state = registry.newest(sessionId);
    const pid = state && "process" in state ? (state.process?.identity.pid ?? null) : null;
    const { stopId, at } = freshValues(context, sessionId);
    registry.dispatch(sessionId, { type: "stop", intent: { stopId, requestedAt: at, goal: "stop", force: true } });
    return { sessionId, pid };
  });
  await Promise.all(
    asked.map(async ({ sessionId, pid }) => {
      const ended = await registry.until(sessionId, (state) => state === null, WORKER_MS);
      if (ended === "timeout") {
        const reason = `it is still ${registry.published(sessionId)?.name ?? "there"}`;
        report.failed.push({ kind: "worker", id: sessionId, pid, reason });
      } else report.stopped.push({ kind: "worker", id: sessionId, pid });
      progress(`${sessionId}: ${ended === "timeout" ? "not stopped" : "stopped"}`);
    }),
  );
  for (const [sessionId, reason] of sessions.quarantined)
    report.kept.push({ kind: "descriptor", id: sessionId, reason });
}

/** True when it is proven gone. Each signal follows a fresh verdict. */
async function endProcess(record: OwnerRecord): Promise<boolean> {
  const observer = createObserver({ mode: "narrow" });
  const isGone = (): boolean => ["gone", "replaced"].includes(verdictOf(observer, record).kind);
  for (const [signal, waitMs] of [
    ["SIGTERM", TERM_MS],
    ["SIGKILL", KILL_MS],
  ] as const) {
    if (isGone()) return true;
    observer.signal(record.identity, signal);
    const until = systemClock.monotonic() + waitMs;
    while (!isGone() && systemClock.monotonic() < until)
      await new Promise<void>((resolve) => void systemClock.setTimer(POLL_MS, resolve));
  }
  return isGone();
}
