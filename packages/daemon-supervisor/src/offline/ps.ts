import { connect } from "node:net";
import { VERSION } from "@holdfast/client/protocol";
import type { OwnerRecord, SessionState } from "@holdfast/client/protocol";
import { startIdOf } from "@holdfast/shared-process";
import type { EnvironmentScan, Verdict } from "@holdfast/shared-process";
import { mismatchOf } from "../mismatch.ts";
import { MARKER_NAME } from "../names.ts";
import { canonical } from "./discover.ts";
import { mayLive } from "./home-view.ts";
import type { HomeView, WorkerView } from "./home-view.ts";
import { survey } from "./survey.ts";

export interface PsDaemon {
  readonly home: string;
  readonly socketPath: string | null;
  readonly pid: number;
  readonly startId: string;
  /** `null` of one that lost its home: which epoch it had stands nowhere any more. */
  readonly epoch: number | null;
  readonly version: string | null;
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

export interface PsOrphan {
  readonly pid: number;
  readonly startId: string;
  /** The session, or else the generation, if known. */
  readonly workerId: string | null;
}

export interface PsReport {
  readonly daemons: PsDaemon[];
  readonly workers: PsWorker[];
  readonly orphans: PsOrphan[];
  readonly scan: { readonly complete: boolean; readonly problems: readonly string[] };
}

/**
 * Every daemon and worker of this user on this machine, by their records and the kernel: also while a daemon is frozen or gone.
 * `home` is listed in any case.
 */
export async function psReport(home: string, defaultHome: string): Promise<PsReport> {
  const { scan, homes, orphans, problems } = survey(home);
  const isDefault = (view: HomeView): boolean => canonical(view.home) === canonical(defaultHome);
  const daemons = await Promise.all(homes.map((view) => daemonsOf(view, scan, isDefault(view))));
  return {
    daemons: daemons.flat(),
    workers: homes.flatMap((view) => view.workers.map((worker) => workerOf(view.home, worker, scan))),
    orphans: orphans.map(({ id, identity, workerId }) => ({ pid: identity.pid, startId: id, workerId })),
    scan: { complete: scan.kind === "complete" && problems.length === 0, problems },
  };
}

async function daemonsOf(view: HomeView, scan: EnvironmentScan, isDefault: boolean): Promise<PsDaemon[]> {
  const { home, owner, lost, sessionCount } = view;
  const common = { home, sessionCount, isDefault };
  const uptimeOf = (pid: number): number | null => {
    const age = scan.usageOf(pid)?.ageSeconds;
    return age === undefined ? null : Math.round(age * 100) / 100;
  };
  const rows: PsDaemon[] = lost.map(({ identity }) => ({
    ...common,
    socketPath: null,
    pid: identity.pid,
    startId: startIdOf(identity),
    epoch: null,
    version: null,
    status: "ownership-lost",
    uptimeSeconds: uptimeOf(identity.pid),
  }));
  if (owner.kind !== "alive" && owner.kind !== "gone") return rows;
  const { identity, socketPath, epoch, version } = owner.record;
  const isAlive = owner.kind === "alive";
  const recorded: PsDaemon = {
    ...common,
    socketPath,
    pid: identity.pid,
    startId: startIdOf(identity),
    epoch,
    version,
    status: isAlive ? await statusOf(owner.record) : "orphan-file",
    uptimeSeconds: isAlive ? uptimeOf(identity.pid) : null,
  };
  return [recorded, ...rows];
}

/** Silent is busy, not stale. */
async function statusOf({ socketPath, version }: OwnerRecord): Promise<PsDaemon["status"]> {
  const answer = socketPath === null ? "busy" : await probeSocket(socketPath);
  if (answer !== "answered") return answer;
  return version === VERSION ? "current" : "stale";
}

const ANSWER_MS = 1_000;

type Answer = "answered" | "busy" | "unreachable";

/** Whether something accepts at the socket and says a word in time. */
function probeSocket(path: string): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let connected = false;
    const finish = (result: Answer): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(connected ? "busy" : "unreachable"), ANSWER_MS);
    socket.on("connect", () => (connected = true));
    socket.on("data", () => finish("answered"));
    socket.on("error", () => finish("unreachable"));
    socket.on("close", () => finish("unreachable"));
  });
}

function workerOf(home: string, worker: WorkerView, scan: EnvironmentScan): PsWorker {
  const { sessionId, descriptor, verdict, record } = worker;
  const { process, reason } = descriptor;
  const { pid } = process.identity;
  const usage = verdict === "current" ? scan.usageOf(pid, { name: MARKER_NAME, value: process.marker }) : null;
  return {
    workerId: sessionId,
    sessionId,
    name: record?.name ?? null,
    agent: record?.agent ?? "unknown",
    state: stateOf(worker),
    verdict,
    pid,
    startId: startIdOf(process.identity),
    generation: process.generation,
    home,
    cwd: record?.cwd ?? "",
    memoryBytes: usage?.rssBytes ?? null,
    cpuPercent: usage && usage.ageSeconds > 0 ? Math.round((usage.cpuSeconds / usage.ageSeconds) * 1000) / 10 : null,
    clients: null,
    reason: reason ?? mismatchOf(process) ?? record?.lastError ?? null,
  };
}

function stateOf(worker: WorkerView): SessionState {
  const { lifecycle, stop } = worker.descriptor;
  if (stop) return "stopping";
  return mayLive(worker) || lifecycle === "failed" ? lifecycle : "recovering";
}
