import { systemIds } from "@holdfast/shared-process";
import type { RevocationListener } from "./bindings.ts";
import { nodeCalls } from "./node-calls.ts";
import type { PolicyEntry } from "./policy.ts";
import { TrustState } from "./trust-state.ts";
import type { ProjectTrustAuthority, ProjectTrustOptions, TrustedOperation } from "./types.ts";
import { runTrusted } from "./with-binding.ts";

const authorities = new WeakSet<object>();

export const isProjectTrustAuthority = (value: unknown): value is ProjectTrustAuthority =>
  typeof value === "object" && value !== null && authorities.has(value);

/** Never throws for its policy: a malformed one makes an authority that denies everything (`policy()` says why). */
export function createProjectTrustAuthority(options: ProjectTrustOptions): ProjectTrustAuthority {
  const { calls = nodeCalls, platform = process.platform, newToken = () => systemIds.newToken() } = options;
  const state = new TrustState({ calls, newToken, newRevision: () => systemIds.newId(), platform });
  state.update(options.policy);
  const authority: ProjectTrustAuthority = Object.freeze({
    authorize: (directory: unknown) => state.authorize(directory),
    validate: (binding: unknown) => state.validate(binding),
    withBinding: <T>(binding: unknown, operation: TrustedOperation<T>) => runTrusted(state, binding, operation),
    onRevoked: (binding: unknown, listener: RevocationListener) => state.onRevoked(binding, listener),
    revoke: (binding: unknown) => state.revoke(binding),
    tokenOf: (binding: unknown) => state.tokenOf(binding),
    bindingOf: (token: unknown) => state.bindingOf(token),
    identityOf: (binding: unknown) => state.identityOf(binding),
    reissue: (identity: unknown) => state.reissue(identity),
    update: (policy: readonly (PolicyEntry | string)[]) => state.update(policy),
    policy: () => state.policy,
    entries: () => state.entries(),
    dispose: () => state.dispose(),
    [Symbol.dispose]: () => state.dispose(),
  });
  authorities.add(authority);
  return authority;
}
