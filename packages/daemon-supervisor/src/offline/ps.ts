import { connect } from "node:net";
import type { OwnerRecord, SessionState } from "@holdfast/client/protocol";
import { nodeFileSystem } from "@holdfast/recovery-journal";
import { createObserver, reasonOf, startIdOf, treeUsage } from "@holdfast/shared-process";
import type { Verdict } from "@holdfast/shared-process";
import type { Descriptor } from "../descriptor.ts";
import { readWorkerFiles } from "../descriptor-files.ts";
import { verdictOf } from "../verdict.ts";
import { ownerState } from "./owner.ts";
import { rowsOffline } from "./sessions.ts";

export interface PsDaemon {
  readonly home: string;
  readonly socketPath: string | null;
  readonly pid: number;
  readonly startId: string;
  readonly epoch: number;
  readonly version: string;
  readonly status: "current" | "stale" | "busy" | "unreachable" | "orphan-file" | "ownership-lost";
  readonly sessionCount: number;
  readonly uptimeSeconds: number | null;
  readonly isDefault: boolean;
}

export interface PsWorker {
  readonly workerId: string;
  readonly sessionId: string;
  readonly name: string | null;
  readonly agent: string;
  readonly state: SessionState;
  readonly verdict: Verdict["kind"];
  readonly pid: number;
  readonly startId: string;
  readonly generation: string;
  readonly home: string;
  readonly cwd: string;
  readonly memoryBytes: number | null;
  readonly cpuPercent: number | null;
  readonly clients: number | null;
  readonly reason: string | null;
}

export interface PsReport {
  readonly daemons: PsDaemon[];
  readonly workers: PsWorker[];
  readonly orphans: { pid: number; startId: string; workerId: string }[];
  readonly scan: { complete: boolean; problems: string[] };
}

const ANSWER_MS = 1_000;

/** Whether something accepts at the socket and says a word in time. Silent is busy, not stale. */
function probeSocket(path: string): Promise<"current" | "busy" | "unreachable"> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let connected = false;
    const finish = (result: "current" | "busy" | "unreachable"): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(connected ? "busy" : "unreachable"), ANSWER_MS);
    socket.on("connect", () => (connected = true));
    socket.on("data", () => finish("current"));
    socket.on("error", () => finish("unreachable"));
    socket.on("close", () => finish("unreachable"));
  });
}

async function daemonOf(home: string, record: OwnerRecord): Promise<PsDaemon> {
  return {
    home,
    socketPath: record.socketPath,
    pid: record.identity.pid,
    startId: startIdOf(record.identity),
    epoch: record.epoch,
    version: record.version,
    status: record.socketPath === null ? "busy" : await probeSocket(record.socketPath),
    sessionCount: rowsOffline(home).filter((row) => row.lifecycle === "live").length,
    uptimeSeconds: treeUsage(record.identity.pid)?.ageSeconds ?? null,
    isDefault: false,
  };
}

/** Daemon and workers of one home by its records and the kernel: works while the daemon is frozen or gone. */
export async function psOffline(home: string): Promise<PsReport> {
  const problems: string[] = [];
  const owner = ownerState(home);
  if (owner.kind === "unknown") problems.push(owner.why);
  const daemons = owner.kind === "alive" ? [await daemonOf(home, owner.record)] : [];
  const observer = createObserver({ mode: "narrow" });
  const rows = new Map(rowsOffline(home).map((row) => [row.sessionId, row]));
  const workers: PsWorker[] = [];
  try {
    for (const read of readWorkerFiles(nodeFileSystem, home).descriptors) {
      if (read.kind === "damaged") {
        problems.push(`${read.sessionId}: ${read.reason}`);
        continue;
      }
      const verdict = verdictOf(observer, read.descriptor.process).kind;
      const row = rows.get(read.sessionId);
      workers.push(workerOf(home, { descriptor: read.descriptor, verdict, row }));
    }
  } catch (error) {
    problems.push(reasonOf(error));
  }
  return { daemons, workers, orphans: [], scan: { complete: problems.length === 0, problems } };
}

interface WorkerParts {
  readonly descriptor: Descriptor;
  readonly verdict: Verdict["kind"];
  readonly row: ReturnType<typeof rowsOffline>[number] | undefined;
}

function workerOf(home: string, { descriptor, verdict, row }: WorkerParts): PsWorker {
  const { process, sessionId, lifecycle, stop, reason } = descriptor;
  const { pid } = process.identity;
  const usage = verdict === "current" ? treeUsage(pid, { name: "HOLDFAST_SESSION", value: process.marker }) : null;
  const state: SessionState = stop
    ? "stopping"
    : verdict === "current" || verdict === "unknown"
      ? lifecycle
      : lifecycle === "failed"
        ? "failed"
        : "recovering";
  return {
    workerId: sessionId,
    sessionId,
    name: row?.name ?? null,
    agent: row?.agent ?? "unknown",
    state,
    verdict,
    pid,
    startId: startIdOf(process.identity),
    generation: process.generation,
    home,
    cwd: row?.cwd ?? "",
    memoryBytes: usage?.rssBytes ?? null,
    cpuPercent: usage && usage.ageSeconds > 0 ? Math.round((usage.cpuSeconds / usage.ageSeconds) * 1000) / 10 : null,
    clients: null,
    reason: reason ?? row?.reason ?? null,
  };
}
