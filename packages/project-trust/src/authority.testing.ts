import { createProjectTrustAuthority } from "./authority.ts";
import type { Binding } from "./bindings.ts";
import type { PolicyEntry } from "./policy.ts";
import type { Grant, ProjectTrustAuthority } from "./types.ts";
import { WatchedCalls } from "./watched-calls.testing.ts";

interface Watched {
  readonly authority: ProjectTrustAuthority;
  readonly calls: WatchedCalls;
}

export function watchedAuthority(...policy: readonly (PolicyEntry | string)[]): Watched {
  const calls = new WatchedCalls();
  return { authority: createProjectTrustAuthority({ policy, calls }), calls };
}

/** What is expected to be of one kind, as that. */
export function only<T extends { readonly kind: string }, K extends T["kind"]>(
  value: T,
  kind: K,
): Extract<T, { readonly kind: K }> {
  if (isOf(value, kind)) return value;
  throw new Error(`not ${kind}: ${JSON.stringify(value)}`);
}

function isOf<T extends { readonly kind: string }, K extends T["kind"]>(
  value: T,
  kind: K,
): value is Extract<T, { readonly kind: K }> {
  return value.kind === kind;
}

export const granted = (grant: Grant): Binding => only(grant, "granted").binding;

export const verdictOf = (answer: { readonly kind: string; readonly reason?: string }): string =>
  answer.reason ?? answer.kind;

/** A file system that records no birth times. */
export function withoutBirths(calls: WatchedCalls): WatchedCalls {
  calls.sees = (seen) => ({ ...seen, birthTimeNs: 0n });
  return calls;
}
