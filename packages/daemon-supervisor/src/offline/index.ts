export { descriptorsNameProcess, ownerState } from "./owner.ts";
export type { OfflineOwner } from "./owner.ts";
export { listOffline, showOffline, transcriptOffline } from "./sessions.ts";
export { psOffline } from "./ps.ts";
export type { PsDaemon, PsReport, PsWorker } from "./ps.ts";
export { forceStop, planForceStop } from "./force-stop.ts";
export type { ForceStopPlan, ForceStopReport } from "./force-stop.ts";
