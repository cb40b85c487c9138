import type { Binding, RevocationListener } from "./bindings.ts";
import type { DirectoryCalls } from "./calls.ts";
import type { DirectoryIdentityJson } from "./identity.ts";
import type { PolicyEntry, PolicyFault } from "./policy.ts";
import type { Denied, DeniedReason } from "./reasons.ts";
import type { TrustedRoot } from "./trusted-root.ts";

export interface ProjectTrustOptions {
  /** The directories that are trusted, each whole with its revision, or its path alone: then as it is now. */
  readonly policy: readonly (PolicyEntry | string)[];
  /** What directories are reached by. Default: the real file system. */
  readonly calls?: DirectoryCalls;
  /** Default: this process's. */
  readonly platform?: string;
  /** At least 43 characters of randomness. Default: 32 bytes of the system's, as base64url. */
  readonly newToken?: () => string;
}

export type Grant = { readonly kind: "granted"; readonly binding: Binding } | Denied;

/** What is in force. `malformed` denies everything, and says which entry is wrong. */
export type PolicyState =
  | { readonly kind: "in_force"; readonly entries: number }
  | { readonly kind: "malformed"; readonly fault: PolicyFault };

/**
 * How a listed directory is found. `replaced` has its exact reason: `replaced`, `unproven`, `symlink`, `alias`,
 * `not_a_directory`.
 */
export interface EntryState {
  readonly directory: string;
  readonly revision: string;
  readonly state: "trusted" | "replaced" | "missing" | "unreadable";
  readonly reason?: DeniedReason;
}

/** What a record of a session keeps of the directory that it was bound to. */
export interface BoundIdentity extends DirectoryIdentityJson {
  readonly revision: string;
}

export interface Token {
  readonly kind: "token";
  readonly token: string;
}

export interface Identified {
  readonly kind: "identity";
  readonly identity: BoundIdentity;
}

/** Inside of an operation; `signal` is aborted when the binding is revoked. */
export type TrustedOperation<T> = (root: TrustedRoot, context: { readonly signal: AbortSignal }) => T | PromiseLike<T>;

export type Outcome<T> = { readonly kind: "done"; readonly value: T } | Denied;

/**
 * Decides which directories are trusted, and issues bindings to them. What a method is given is judged and never thrown
 * back, and what is granted was looked at in the file system just then. Everything is denied where anything is in
 * doubt.
 */
export interface ProjectTrustAuthority extends Disposable {
  /**
   * Only a listed directory by its exact path; what is below it is not granted. A binding is held until it is revoked.
   */
  readonly authorize: (directory: unknown) => Grant;
  /** Whether a binding still holds. One whose directory is found changed is revoked for good. */
  readonly validate: (binding: unknown) => Grant;
  /**
   * Runs an operation between two validations. Denied by the second one, its value is thrown away; what it throws
   * passes through. Each that runs counts as a listener of its binding.
   */
  readonly withBinding: <T>(binding: unknown, operation: TrustedOperation<T>) => Promise<Outcome<T>>;
  /**
   * Tells once when a binding ends, and at once for one that has ended or is none. Throws a `CodedError`,
   * `too_many_listeners`, above 1,000 of one binding.
   */
  readonly onRevoked: (binding: unknown, listener: RevocationListener) => Disposable;
  /** Whether it was live. */
  readonly revoke: (binding: unknown) => boolean;
  /** The binding between processes: whoever has the token has the binding. */
  readonly tokenOf: (binding: unknown) => Token | Denied;
  readonly bindingOf: (token: unknown) => Grant;
  readonly identityOf: (binding: unknown) => Identified | Denied;
  /**
   * A new binding for what `identityOf` said, in this process or an earlier one, if it is still listed, trusted and
   * there.
   */
  readonly reissue: (identity: unknown) => Grant;
  /**
   * Puts another policy in force. An entry whose directory and revision stay is what it was, with its bindings; to
   * trust what is there now, give it another revision.
   */
  readonly update: (policy: readonly (PolicyEntry | string)[]) => PolicyState;
  readonly policy: () => PolicyState;
  /** Looks at each listed directory, and changes nothing. */
  readonly entries: () => readonly EntryState[];
  /** Revokes everything and closes every descriptor; that of an operation that runs, as soon as it has settled. */
  readonly dispose: () => void;
}
