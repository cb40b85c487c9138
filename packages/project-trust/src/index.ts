export { createProjectTrustAuthority, isProjectTrustAuthority } from "./authority.ts";
export type { Binding, Revocation, RevocationListener } from "./bindings.ts";
export type { DirectoryCalls, Seen } from "./calls.ts";
export { type CanonicalDirectory, canonicalDirectory } from "./canonical-directory.ts";
export { canonicalPath, type PathReason } from "./canonical.ts";
export { type DirectoryIdentity, type DirectoryIdentityJson, identityToJson } from "./identity.ts";
export type { Absent, Refused, RefusedReason } from "./inside.ts";
export { nodeCalls } from "./node-calls.ts";
export type { ListedName } from "./places.ts";
export type { PolicyEntry, PolicyFault } from "./policy.ts";
export { type Project, projectOf } from "./project-of.ts";
export type { Denied, DeniedReason } from "./reasons.ts";
export {
  type Addition,
  policyOf,
  readTrustFile,
  type TrustFile,
  withAdded,
  withRemoved,
  writeTrustFile,
  writeTrustFileAsync,
} from "./trust-file.ts";
export type { TrustedDirectory } from "./trust-format.ts";
export type { DirectoryRead, FileRead, TrustedRoot } from "./trusted-root.ts";
export type {
  BoundIdentity,
  EntryState,
  Grant,
  Identified,
  Outcome,
  PolicyState,
  ProjectTrustAuthority,
  ProjectTrustOptions,
  Token,
  TrustedOperation,
} from "./types.ts";
