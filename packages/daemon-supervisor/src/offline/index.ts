export { startSupervisor } from "@holdfast/session-worker/transport";
export { checkSocketPaths } from "../home.ts";
export { descriptorsNameProcess, ownerState } from "./owner.ts";
export type { OfflineOwner } from "./owner.ts";
export { requireSuccessor } from "./unwritable.ts";
export { signalOwner } from "./end-process.ts";
export { listOffline, showOffline, transcriptOffline, treeOffline, waitOffline } from "./sessions.ts";
export type { OfflineWait } from "./sessions.ts";
export { psReport } from "./ps.ts";
export type { PsDaemon, PsOrphan, PsReport, PsWorker } from "./ps.ts";
export { dryRun, isEmpty, planForceStop } from "./force-stop-plan.ts";
export type { ForceStopPlan, ForceStopReport, ForceStopRequest } from "./force-stop-plan.ts";
export type { Retained } from "./retained.ts";
import type { ForceStopPlan, ForceStopReport, ForceStopRequest } from "./force-stop-plan.ts";
import type { ForceStopOptions } from "./force-stop.ts";

/** Carries a plan out, for certain. Loaded only when it is asked for: it brings the whole supervisor along. */
export async function forceStop(
  request: ForceStopRequest,
  plan: ForceStopPlan,
  options: ForceStopOptions,
): Promise<ForceStopReport> {
  const loaded = await import("./force-stop.ts");
  return loaded.forceStop(request, plan, options);
}
/** Trust in directories, by the state directory and the disk alone. Loaded only when it is asked for. */
export const loadTrust = (): Promise<typeof import("./trust.ts")> => import("./trust.ts");
export type { NextStep, ProjectAt, TrustCheck } from "./trust.ts";

import type { Action, Finding } from "./doctor/seen.ts";
export type { Action, Finding };

/** What is wrong with a home. Loaded only when it is asked for. */
export async function examine(home: string): Promise<Finding[]> {
  const loaded = await import("./doctor/examine.ts");
  return loaded.examine(home);
}

/** A repair that needs no daemon; what was done, as a sentence. Rejects when nothing was done. */
export async function repairHere(home: string, action: Extract<Action, { by: "command" }>): Promise<string> {
  const loaded = await import("./doctor/repair.ts");
  return loaded.repairHere(home, action);
}
