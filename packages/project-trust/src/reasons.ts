import type { PathReason } from "./canonical.ts";

/** Why a directory could not be reached by its exact path. */
export type WalkReason = "symlink" | "alias" | "missing" | "not_a_directory" | "unreadable" | "unsupported_platform";

/**
 * Why something is not trusted. A path's own reasons; those of the way to it; `replaced`: another directory has its
 * place; `unproven`: nothing tells it from another one that was there before; and those of policy, bindings and tokens.
 */
export type DeniedReason =
  | PathReason
  | WalkReason
  | "replaced"
  | "unproven"
  | "malformed_policy"
  | "not_listed"
  | "other_revision"
  | "malformed_identity"
  | "too_many_bindings"
  | "not_a_binding"
  | "unknown_token"
  | "revoked"
  | "disposed";

/** `detail` is one line for a person. */
export interface Denied {
  readonly kind: "denied";
  readonly reason: DeniedReason;
  readonly detail: string;
}

export const denied = (reason: DeniedReason, detail: string): Denied =>
  Object.freeze({ kind: "denied", reason, detail });

/**
 * What may pass by itself: it denies once and revokes nothing. All other reasons of a look say that the directory is
 * not where it was, which nothing takes back.
 */
export const isPassing = (reason: DeniedReason): boolean =>
  reason === "unreadable" || reason === "unsupported_platform";

const PATH_DETAILS: Readonly<Record<PathReason, string>> = {
  not_a_string: "a path is a string",
  not_absolute: "the path does not begin with /",
  not_canonical: "the path has a component that is empty, . or .., or a slash at its end",
  nul: "the path has a NUL in it",
  too_long: "the path has more than 4095 bytes, or a component of more than 255",
  lone_surrogate: "the path has half a character in it, which no file system stores",
};

export const pathDetail = (reason: PathReason): string => PATH_DETAILS[reason];
