import { CodedError, reasonOf, startIdOf } from "@holdfast/shared-process";
import type { ProcessIdentity } from "@holdfast/shared-process";
import { SUPERVISOR_TITLE } from "@holdfast/session-worker/transport";
import type { OwnerRecord } from "@holdfast/client/protocol";
import { composeSupervisor } from "../compose.ts";
import type { Supervisor } from "../compose.ts";
import { readWorkerFiles } from "../descriptor-files.ts";
import { createLog } from "../log.ts";
import { claimFor } from "../main.ts";
import type { Ownership } from "../ownership/claim.ts";
import { maintenanceIsOver } from "../ownership/maintenance.ts";
import { tryClaiming } from "../ownership/try-claiming.ts";
import type { World } from "../world.ts";
import { endLostSupervisor, endOwner } from "./end-process.ts";
import { entriesOf, hasSessions, plannedHome, unrecordable } from "./force-stop-plan.ts";
import type { Entry, ForceStopReport, PlannedHome } from "./force-stop-plan.ts";
import { viewHome } from "./home-view.ts";
import { stopSessions } from "./stop-sessions.ts";

export interface Work {
  readonly workerProgram: string;
  readonly world: World;
  readonly progress: (text: string) => void;
  readonly report: ForceStopReport;
}

/** A daemon that was started between the end of the last one and the claim is ended like that one. */
const CLAIMS = 5;

/**
 * Ends the daemons of one home, takes it for maintenance and runs the ordinary forced stops. What fails stands in the report; false where
 * the home could not be taken, and so nothing of it may be ended.
 */
export async function stopHome(planned: PlannedHome, work: Work): Promise<boolean> {
  try {
    const taken =
      planned.unwritable === null ? await takeHome(planned, work) : refused(unrecordable(planned.unwritable));
    if (taken.kind === "claimed") await stopClaimed(planned, taken, work);
    if (taken.kind !== "refused") return true;
    failRest(planned, work.report, taken);
  } catch (error) {
    // One home that cannot be worked on does not keep the others (I104).
    failRest(planned, work.report, refused(reasonOf(error)));
  }
  return false;
}

/** Whatever was planned and has no line in the report yet: nothing may go on and stand nowhere (CLI.md §5). */
function failRest(planned: PlannedHome, report: ForceStopReport, { pid, why: reason }: Refused): void {
  const said = [...report.stopped, ...report.failed];
  const isSaid = ({ kind, id }: Entry): boolean => said.some((row) => row.kind === kind && row.id === id);
  const left = entriesOf(planned).filter((entry) => !isSaid(entry));
  // Of a daemon that cannot be told there is no plan.
  const isNamed = left.length > 0 && (planned.unknown === null || planned.daemons.length > 0);
  const rows: Entry[] = isNamed ? left : [{ kind: "daemon", id: planned.home, pid }, ...left];
  report.failed.push(...rows.map((row) => ({ ...row, reason })));
}

async function stopClaimed(planned: PlannedHome, claimed: Claimed, work: Work): Promise<void> {
  try {
    await endAll(planned, work);
    await stopRecorded(planned, claimed, work);
  } finally {
    claimed.ownership.leave();
  }
}

interface Claimed {
  readonly kind: "claimed";
  readonly ownership: Ownership;
  readonly self: ProcessIdentity;
}

interface Refused {
  readonly kind: "refused";
  /** Of its owner, where it is known. */
  readonly pid: number | null;
  readonly why: string;
}

const refused = (why: string, pid: number | null = null): Refused => ({ kind: "refused", pid, why });

async function takeHome(planned: PlannedHome, work: Work): Promise<Claimed | Refused | { readonly kind: "done" }> {
  const { home, daemons, orphaned } = planned;
  for (let attempt = 1; attempt <= CLAIMS; attempt += 1) {
    const { owner, ...view } = viewHome(home, []);
    if (owner.kind === "unknown") {
      // Its record is damaged: who holds the home's lifeline is ended by that, and the next look finds nobody.
      if (attempt === 1 && owner.record === null && daemons.length > 0) {
        requireClaim(home, work.world);
        if (await endAll(planned, work)) continue;
      }
      return refused(owner.why, owner.record?.identity.pid);
    }
    if (owner.kind === "alive") {
      if (owner.record.phase !== "maintenance") requireClaim(home, work.world);
      if (!(await endDaemon(owner.record, work))) return refused("its daemon did not end", owner.record.identity.pid);
      continue;
    }
    const isLeft = daemons.some(({ id }) => !work.report.stopped.some((ended) => ended.id === id));
    // One that was killed did not say that it stopped; this claim says so for it.
    const isDone = owner.kind !== "gone" && !hasSessions({ ...plannedHome({ ...view, owner }), orphaned });
    if (!isLeft && isDone) return { kind: "done" };
    const { claim, self } = await claimFor({ home, phase: "maintenance", world: work.world });
    if (claim.kind === "refused") continue;
    // Whoever looks for the owner of a home whose record is damaged, or sweeps a session, knows it by this name.
    process.title = SUPERVISOR_TITLE;
    return { kind: "claimed", ownership: claim.ownership, self };
  }
  return refused("another daemon took the home each time");
}

/** Throws where the home takes no claim: without one no worker can be stopped, and its daemon is of more use alive. */
function requireClaim(home: string, world: World): void {
  try {
    tryClaiming(home, world);
  } catch (error) {
    throw new CodedError("unrecordable", unrecordable(reasonOf(error)), { cause: error });
  }
}

async function endDaemon(record: OwnerRecord, { report, progress }: Work): Promise<boolean> {
  const { identity, phase, home } = record;
  if (phase === "maintenance") {
    progress(`another forced stop, process ${identity.pid}, has ${home}; waiting`);
    if (await maintenanceIsOver(home)) return true;
  }
  progress(`ending the daemon of ${home}, process ${identity.pid}`);
  const daemon = { kind: "daemon", id: startIdOf(identity), pid: identity.pid } as const;
  const isEnded = await endOwner(record);
  if (isEnded) report.stopped.push(daemon);
  return isEnded;
}

/** Those of the planned ones that have not ended by now: no record that can be read names them. True when there were some and all have. */
async function endAll({ home, daemons }: PlannedHome, { report }: Work): Promise<boolean> {
  const left = daemons.filter(({ id }) => !report.stopped.some((ended) => ended.id === id));
  const ended = await Promise.all(left.map(({ identity }) => endLostSupervisor(identity, home)));
  for (const [index, { id, pid }] of left.entries()) {
    const daemon = { kind: "daemon", id, pid } as const;
    if (ended[index]) report.stopped.push(daemon);
    else report.failed.push({ ...daemon, reason: "no record of the home names it, and it did not end" });
  }
  return left.length > 0 && ended.every(Boolean);
}

async function stopRecorded(planned: PlannedHome, { ownership, self }: Claimed, work: Work): Promise<void> {
  const { home, orphaned } = planned;
  const files = readWorkerFiles(work.world.fs, home);
  if ([files.descriptors, orphaned].every(({ length }) => length === 0) && files.intents.size === 0) return;
  const supervisor: Supervisor = composeSupervisor({
    home,
    workerProgram: work.workerProgram,
    epoch: ownership.epoch,
    self,
    world: work.world,
    log: createLog(home, false),
    files,
    isOwner: () => ownership.isCurrent(),
    onOwnershipLost: () => undefined,
    onChanged: () => undefined,
    forMaintenance: true,
  });
  try {
    await stopSessions(supervisor, work);
    await restOrphaned(supervisor, orphaned);
  } finally {
    await supervisor.release();
  }
}

/** Their workers end with this command: the next daemon must not bring them back. */
async function restOrphaned({ context, records }: Supervisor, orphaned: readonly string[]): Promise<void> {
  for (const sessionId of orphaned.filter((id) => context.registry.newest(id) === null))
    await records.rest(sessionId, (record) =>
      record.wanted === "archived" ? record : { ...record, wanted: "stopped" },
    );
}
