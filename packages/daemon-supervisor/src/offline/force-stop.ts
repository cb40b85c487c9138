import { verdictOf } from "@holdfast/session-worker/transport";
import { createObserver } from "@holdfast/shared-process";
import { workerCgroups } from "../effects/leftovers.ts";
import { canonical } from "./discover.ts";
import { endOrphan } from "./end-process.ts";
import { stopHome } from "./force-stop-home.ts";
import { hasSessions } from "./force-stop-plan.ts";
import type { ForceStopPlan, ForceStopReport, ForceStopRequest, PlannedHome } from "./force-stop-plan.ts";
import type { Orphan } from "./orphans.ts";
import { survey } from "./survey.ts";
import { systemWorld } from "../world.ts";
import type { World } from "../world.ts";

export interface ForceStopOptions {
  readonly workerProgram: string;
  readonly onProgress?: (text: string) => void;
}

/** Carries a plan out: all homes side by side, each under its own claim, and then what no record names any more. */
export async function forceStop(
  request: ForceStopRequest,
  plan: ForceStopPlan,
  options: ForceStopOptions & { readonly world?: World },
): Promise<ForceStopReport> {
  const report: ForceStopReport = { stopped: [], kept: [...plan.kept], failed: [] };
  // Those that are there now: one that a daemon makes meanwhile must not be removed before it is filled.
  const cgroups = plan.homes.flatMap(({ home }) => workerCgroups(home));
  const { workerProgram, onProgress: progress = () => undefined, world = systemWorld() } = options;
  const work = { report, workerProgram, progress, world };
  const refused = new Set<string>();
  await Promise.all(
    plan.homes.filter(isConcerned).map(async (planned) => {
      if (!(await stopHome(planned, work))) refused.add(canonical(planned.home));
    }),
  );
  await endOrphans(request, withoutHomes(plan, refused, report), work);
  for (const cgroup of cgroups) cgroup.remove();
  return report;
}

/** What no record names of a home that could not be taken: its end could not be written down there either (I129). */
function withoutHomes(plan: ForceStopPlan, refused: ReadonlySet<string>, report: ForceStopReport): ForceStopPlan {
  const isOf = (home: string | null): boolean => home !== null && refused.has(canonical(home));
  const left = plan.processes.filter(({ home }) => isOf(home));
  const reason = "its home could not be taken, so that no stop can be recorded";
  report.failed.push(...left.map(({ id, identity }) => ({ kind: "process", id, pid: identity.pid, reason }) as const));
  return {
    ...plan,
    homes: plan.homes.filter(({ home }) => !isOf(home)),
    processes: plan.processes.filter(({ home }) => !isOf(home)),
    markers: plan.markers.filter(({ home }) => !isOf(home)),
  };
}

const isConcerned = (planned: PlannedHome): boolean =>
  planned.unknown !== null || planned.daemons.length > 0 || hasSessions(planned);

/** A second look: only what is nobody's in both, or was left by the stops of this plan, is ended. */
async function endOrphans(
  { home, all }: ForceStopRequest,
  plan: ForceStopPlan,
  { report, progress }: Parameters<typeof stopHome>[1],
): Promise<void> {
  const planned = new Set(plan.processes.map(({ id }) => id));
  const left = new Set(plan.markers.map(({ marker }) => marker));
  if (planned.size === 0 && left.size === 0) return;
  const kept = new Set(plan.kept.map(({ id }) => id));
  const homes = new Set(plan.homes.map((view) => canonical(view.home)));
  const isLeft = (orphan: Orphan): boolean =>
    left.has(orphan.proof.value) && (all || (orphan.home !== null && homes.has(canonical(orphan.home))));
  const observer = createObserver({ mode: "narrow" });
  const targets = survey(home, plan.markers).orphans.filter(
    (orphan) => (planned.has(orphan.id) || isLeft(orphan)) && orphan.doubt === null && !kept.has(orphan.id),
  );
  const isTarget = new Set(targets.map(({ id }) => id));
  const others = plan.processes.filter(({ id }) => !isTarget.has(id));
  const note = (orphan: Orphan, problem: string | null): void => {
    const { pid } = orphan.identity;
    const ended = { kind: "process", id: orphan.id, pid } as const;
    if (problem === null) report.stopped.push(ended);
    else report.failed.push({ ...ended, reason: problem });
    progress(`process ${pid} (${orphan.command}): ${problem ?? "ended"}`);
  };
  for (const orphan of others) {
    const { kind } = verdictOf(observer, { identity: orphan.identity, lifelinePath: null });
    // A stop of its session has ended it, or what it ran in took it along.
    note(orphan, kind === "gone" || kind === "replaced" ? null : "it is not certain any more that it is nobody's");
  }
  const endOne = async (orphan: Orphan): Promise<void> =>
    note(orphan, (await endOrphan(orphan, observer)) ? null : "it did not end");
  await Promise.all(targets.map(endOne));
}
