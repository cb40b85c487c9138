import { endTree, findTree, leaveCgroup } from "@holdfast/shared-process";
import type { FoundTree, Marker, TreeProcess, UnprovenProcess } from "@holdfast/shared-process";
import type { WorkerOrders, WorkerStopParams } from "../transport/messages.ts";
import { isNested, MARKER_NAME } from "../transport/recorded-supervisor.ts";
import type { SessionStore } from "../transport/store-contract.ts";
import { isWorkerCgroup, openWorkerCgroup } from "../transport/worker-cgroup.ts";
import type { Session } from "./session.ts";
import type { WorkerWorld } from "./world.ts";

/** What a shell and its commands have between SIGTERM and SIGKILL (CLI.md §6). */
export const STOP_GRACE_MS = 1_000;
export const FORCED_GRACE_MS = 500;
/** For the last records of a turn, after its agent is gone; a full disk must not hold a stop. */
const RECORD_WAIT_MS = 500;
/** What survives SIGKILL this long is left to the supervisor's own sweep: the acknowledged grace must hold. */
const SWEEP_MARGIN_MS = 400;
const POLL_MS = 10;

export type StopGoal = WorkerStopParams["goal"];

export interface Running {
  readonly session: Session;
  readonly store: SessionStore;
}

type TreeWorld = Pick<WorkerWorld, "observer" | "ports">;

/** By what a session's processes are known. The worker itself is in their cgroup, and never one of them. */
function treeOf(orders: WorkerOrders): {
  readonly marker: Marker;
  readonly cgroup: ReturnType<typeof openWorkerCgroup>;
  readonly spare: typeof isNested;
} {
  return { marker: { name: MARKER_NAME, value: orders.marker }, cgroup: openWorkerCgroup(orders), spare: isNested };
}

/** Why a conditional passivation is refused; `null` when nothing speaks against it. */
export function whyBusy({ session }: Running, orders: WorkerOrders, world: TreeWorld): string | null {
  if (!session.isIdle) return "a turn runs or an action waits";
  const { observer, ports } = world;
  const tree = findTree({ ...treeOf(orders), observer, ports });
  return whyOccupied(tree, session.agent.pid);
}

/** Whoever may be the session's and cannot be proven to be counts as well: it would be left behind. */
export function whyOccupied(tree: FoundTree, agentPid: number | null): string | null {
  const isOther = ({ identity }: TreeProcess | UnprovenProcess): boolean => identity.pid !== agentPid;
  const others = tree.processes.filter(isOther);
  const [first] = others;
  if (first) return `${others.length} processes of the session run, such as ${first.command} (${first.identity.pid})`;
  const [doubtful] = tree.unproven.filter(isOther);
  if (doubtful) return `${doubtful.command} (${doubtful.identity.pid}) may be of the session: ${doubtful.why}`;
  return tree.kind === "complete" ? null : `processes cannot be listed: ${tree.problem ?? "unknown"}`;
}

/** For a worker whose home is gone: no daemon will come to remove its group, and whoever is in one cannot. */
export function dropCgroup(orders: WorkerOrders): void {
  leaveCgroup((name) => isWorkerCgroup(name));
  openWorkerCgroup(orders)?.remove();
}

export interface EndOptions {
  readonly running: Running;
  readonly orders: WorkerOrders;
  readonly force: boolean;
  readonly world: TreeWorld & Pick<WorkerWorld, "clock">;
  /** Asked at the very end: a later request may have changed it. */
  readonly goal: () => StopGoal;
}

/** Ends agent, descendants and files, in that order, each bounded: whatever the agent does, this takes a few seconds. */
export async function endSession({ running, orders, force, world, goal }: EndOptions): Promise<void> {
  const { clock, observer, ports } = world;
  const { session, store } = running;
  const graceMs = force ? FORCED_GRACE_MS : STOP_GRACE_MS;
  const isEnd = goal() === "stop" || goal() === "archive";
  session.close(isEnd ? "cancelled" : "interrupted");
  const sweep = endTree({
    ...treeOf(orders),
    graceMs,
    lastRoundsMs: SWEEP_MARGIN_MS,
    force,
    observer,
    ports,
    clock,
  });
  await Promise.all([session.agent.end(graceMs), sweep]);
  const until = clock.monotonic() + RECORD_WAIT_MS;
  while (session.hasTurn && clock.monotonic() < until)
    await new Promise<void>((resolve) => void clock.setTimer(POLL_MS, resolve));
  if (goal() === "stop" || goal() === "archive") await store.cancelAll("stopped");
  await store.close();
}
