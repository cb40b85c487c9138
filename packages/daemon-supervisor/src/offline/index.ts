export { checkSocketPaths } from "../home.ts";
export { descriptorsNameProcess, ownerState } from "./owner.ts";
export type { OfflineOwner } from "./owner.ts";
export { listOffline, showOffline, transcriptOffline, treeOffline, waitOffline } from "./sessions.ts";
export type { OfflineWait } from "./sessions.ts";
export { psOffline } from "./ps.ts";
export type { PsDaemon, PsReport, PsWorker } from "./ps.ts";
export { planForceStop } from "./force-stop-plan.ts";
export type { ForceStopPlan } from "./force-stop-plan.ts";
export type { ForceStopReport } from "./force-stop.ts";
import type { ForceStopOptions, ForceStopReport } from "./force-stop.ts";

/** Ends daemon and workers of a home for certain. Loaded only when it is asked for: it brings the whole supervisor along. */
export async function forceStop(home: string, options: ForceStopOptions): Promise<ForceStopReport> {
  const loaded = await import("./force-stop.ts");
  return loaded.forceStop(home, options);
}
