export type { Cgroup, CgroupChange, CgroupMembers, CgroupRemoval } from "./cgroup/cgroup.ts";
export { leaveCgroup, type LeftCgroup } from "./cgroup/leave.ts";
export {
  type CgroupDirectory,
  listCgroups,
  makeCgroup,
  type MadeCgroup,
  openCgroup,
  type OpenedCgroup,
} from "./cgroup/make.ts";
export { type CgroupPorts, systemCgroupPorts } from "./cgroup/ports.ts";
export { systemClock } from "./clock.ts";
export { type Environment, ownEnvironment, sessionEnvironment } from "./environment.ts";
export { CodedError, errnoOf, invariant, reasonOf, rethrowLater } from "./errors.ts";
export { compareIdentities, isProcessIdentity, startIdOf } from "./identity.ts";
export { systemIds } from "./ids.ts";
export {
  createLifeline,
  holdLifeline,
  type Lifeline,
  type LifelineState,
  probeLifeline,
  watchLifeline,
} from "./lifeline.ts";
export { createObserver, type ObserverOptions } from "./observe/create.ts";
export { environmentValues } from "./observe/environment.ts";
export type { LibraryPolicy } from "./observe/late.ts";
export type { SignalMode } from "./observe/rules.ts";
export type { PidfdFeatures, PidfdLibrary, PidfdState } from "./library/pidfd.ts";
export { type ProcessPorts, systemPorts } from "./ports.ts";
export { socketPathFits } from "./socket-path.ts";
export { awaitGate } from "./spawn/gate.ts";
export { closeInherited } from "./spawn/inherited.ts";
export { type GatedProcess, type GatedSpawnOptions, spawnGated } from "./spawn/gated.ts";
export type { LaunchFailure, LaunchFailureCode, LaunchOptions } from "./spawn/launch.ts";
export { type OwnedProcess, type OwnedSpawnOptions, spawnOwned } from "./spawn/owned.ts";
export { isDefunct, type ParsedStat, parseStat, type ProcessStat } from "./stat.ts";
export type { Spare } from "./tree/ancestry.ts";
export { endTree, type EndTreeOptions, type TreeReport } from "./tree/end.ts";
export { findTree, type FoundTree } from "./tree/find.ts";
export type { TreeProcess } from "./tree/members.ts";
export { defaultKeep } from "./tree/keep.ts";
export { type MarkedProcess, type MarkedScan, scanMarked } from "./tree/scan.ts";
export {
  type EnvironmentScan,
  type EnvironmentScanOptions,
  type FoundProcess,
  scanEnvironments,
} from "./tree/environments.ts";
export type { UnprovenProcess } from "./tree/prove.ts";
export { type OpenPath, openPaths, type OpenPaths } from "./tree/open-paths.ts";
export { type Place, placeOf, sharesMounts } from "./tree/place.ts";
export type { TreeOptions } from "./tree/tree.ts";
export { type TreeUsage, treeUsage } from "./tree/usage.ts";
export type {
  BackendName,
  Capabilities,
  Clock,
  ExitInfo,
  ExitWatch,
  Host,
  IdentifyResult,
  Ids,
  Marker,
  OpenOptions,
  OpenResult,
  ProcessHandle,
  ProcessIdentity,
  ProcessObserver,
  Signal,
  SignalOptions,
  SignalOutcome,
  SignalWay,
  UnknownWhy,
  Verdict,
} from "./types.ts";
