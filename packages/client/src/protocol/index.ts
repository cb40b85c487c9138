export { ProtocolError, codeOfErrno, errorCodes, isErrorCode } from "./codes.ts";
export type { ErrorCode } from "./codes.ts";
export * from "./limits.ts";
export { sessionStates, trustStates, waitConditions } from "./rows.ts";
export { meets } from "./wait-condition.ts";
export type {
  Activity,
  DaemonStatus,
  InDoubt,
  RestoredBy,
  SessionDetails,
  SessionRow,
  SessionState,
  SessionTree,
  TrustRow,
  TrustState,
  WaitAnswer,
  WaitCondition,
  WaitingFor,
} from "./rows.ts";
export type {
  ActionKind,
  EventBody,
  EventOf,
  EventStamp,
  EventType,
  SessionEvent,
  SteerOutcome,
  StopReason,
} from "./events.ts";
export { PROTOCOL_VERSION, SCHEMA_REVISION, attachEndings, attachFrom, methods, repairs } from "./methods.ts";
export type {
  AttachEnding,
  Hello,
  MethodName,
  MethodParams,
  MethodResults,
  Notifications,
  RepairName,
  SubmitResult,
} from "./methods.ts";
export { assertions, problemKinds } from "./problems.ts";
export type { Assertion, Problem, ProblemKind } from "./problems.ts";
export { OWNER_FILE, identitySchema, ownerRecordSchema } from "./owner-record.ts";
export type { OwnerRecord } from "./owner-record.ts";
export { LineDecoder, encodeFrame, isObject, parseFrame } from "./frames.ts";
export type { Frame, Notification, Request, Response, WireError } from "./frames.ts";
export { ConnectionLost, Peer } from "./peer.ts";
export type { PeerHandlers } from "./peer.ts";
export { VERSION } from "./version.ts";
