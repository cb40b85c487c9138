import type { ProcessIdentity } from "../../types.ts";

/**
 * Starts are compared in whole seconds, all that `ps` tells: the same process read once by the library and once by `ps`
 * must not look like two. They decide nothing where both sides have a kernel id.
 */
export function comparable(
  recorded: ProcessIdentity,
  observed: ProcessIdentity,
): readonly [ProcessIdentity, ProcessIdentity] {
  return [inSeconds(recorded), inSeconds(observed)];
}

function inSeconds(identity: ProcessIdentity): ProcessIdentity {
  const startTicks = /^(\d+)\d{6}$/.exec(identity.startTicks ?? "")?.[1] ?? null;
  return { ...identity, startTicks };
}
