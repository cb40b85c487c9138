import type { ProcessIdentity } from "../../types.ts";

/**
 * Where the kernel's ids cannot decide, starts are compared in whole seconds, all that `ps` tells: the same process read
 * once by the library and once by `ps` must not look like two.
 */
export function comparable(
  recorded: ProcessIdentity,
  observed: ProcessIdentity,
): readonly [ProcessIdentity, ProcessIdentity] {
  const decides = recorded.pidfsInode !== null && observed.pidfsInode !== null;
  return decides ? [recorded, observed] : [inSeconds(recorded), inSeconds(observed)];
}

function inSeconds(identity: ProcessIdentity): ProcessIdentity {
  const startTicks = /^(\d+)\d{6}$/.exec(identity.startTicks ?? "")?.[1] ?? null;
  return { ...identity, startTicks };
}
