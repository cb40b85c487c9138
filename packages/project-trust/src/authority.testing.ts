import { expect } from "vitest";
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

export function granted(grant: Grant): Binding {
  if (grant.kind === "denied") return expect.unreachable(`${grant.reason}: ${grant.detail}`);
  return grant.binding;
}

export const verdictOf = (answer: { readonly kind: string; readonly reason?: string }): string =>
  answer.reason ?? answer.kind;

/** A file system that records no birth times. */
export function withoutBirths(calls: WatchedCalls): WatchedCalls {
  calls.sees = (seen) => ({ ...seen, birthTimeNs: 0n });
  return calls;
}
