export * from "./messages.ts";
export * from "./session-record.ts";
export type * from "./store-contract.ts";
export { formatCursor, parseCursor } from "./cursor.ts";
export type { Cursor } from "./cursor.ts";
export { endCursor, readTranscript } from "./read-transcript.ts";
export type { ReadTranscriptOptions, TranscriptLine } from "./read-transcript.ts";
export { requestHash } from "./request-hash.ts";
export { toProtocolError } from "./admission.ts";
export { findRequest } from "./find-request.ts";
export type { FindRequestOptions, FoundRequest } from "./find-request.ts";
export { openSessionStore } from "./open-store.ts";
export type { OpenStoreOptions } from "./open-store.ts";
export { linesOf, transcriptAt, transcriptPath, whyUnreadable } from "./transcript-file.ts";
export { Listener, longestAside } from "./listener.ts";
export type { ListenerOptions } from "./listener.ts";
export { isAction, operationKinds } from "./operation-kinds.ts";
export { readRetained } from "./retained.ts";
export type { RetainedProcess } from "./retained.ts";
export { epochsOf, ownerFolder, ownerPath, readOwner, topOwner } from "./owner-files.ts";
export type { TopOwner } from "./owner-files.ts";
export {
  SUPERVISOR_TITLE,
  holdsElsewhere,
  homesHeldBy,
  isNested,
  isRecordedSupervisor,
} from "./recorded-supervisor.ts";
export type { HeldHomes } from "./recorded-supervisor.ts";
export { checkText } from "./check-text.ts";
export { isWorkerCgroup, openWorkerCgroup, workerCgroupName } from "./worker-cgroup.ts";
export { verdictOf, whyUnknown } from "./verdict.ts";
export type { Observed, RecordVerdict } from "./verdict.ts";
export { startSupervisor, supervisorOrdersSchema } from "./start-supervisor.ts";
export type { SupervisorOrders, SupervisorStart } from "./start-supervisor.ts";
