export { startSupervisor } from "@holdfast/session-worker/transport";
export { checkSocketPaths } from "../home.ts";
export { descriptorsNameProcess, ownerState } from "./owner.ts";
export type { OfflineOwner } from "./owner.ts";
export { signalOwner } from "./end-process.ts";
export { listOffline, showOffline, transcriptOffline, treeOffline, waitOffline } from "./sessions.ts";
export type { OfflineWait } from "./sessions.ts";
export { psReport } from "./ps.ts";
export type { PsDaemon, PsOrphan, PsReport, PsWorker } from "./ps.ts";
export { isEmpty, planForceStop } from "./force-stop-plan.ts";
export type { ForceStopPlan, ForceStopRequest } from "./force-stop-plan.ts";
export type { ForceStopReport } from "./force-stop.ts";
export type { Retained } from "./retained.ts";
import type { ForceStopPlan, ForceStopRequest } from "./force-stop-plan.ts";
import type { ForceStopOptions, ForceStopReport } from "./force-stop.ts";

/** Carries a plan out, for certain. Loaded only when it is asked for: it brings the whole supervisor along. */
export async function forceStop(
  request: ForceStopRequest,
  plan: ForceStopPlan,
  options: ForceStopOptions,
): Promise<ForceStopReport> {
  const loaded = await import("./force-stop.ts");
  return loaded.forceStop(request, plan, options);
}
