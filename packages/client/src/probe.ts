import { openConnection } from "./connection.ts";
import { findOwner, namesThisHome } from "./find-owner.ts";
import { within } from "./patience.ts";
import type { Hello } from "./protocol/index.ts";

/** The hello of the daemon that serves this home now, or `null` when none says one within `timeoutMs`. Throws on another protocol. */
export async function probeDaemon(home: string, timeoutMs: number): Promise<Hello | null> {
  const owner = findOwner(home);
  if (owner.kind !== "found" || owner.record.phase !== "serving" || !namesThisHome(owner.record, home)) return null;
  const { socketPath } = owner.record;
  if (socketPath === null) return null;
  const { opening, destroy } = openConnection({ socketPath });
  try {
    const opened = (await within(opening, timeoutMs))?.value;
    if (opened?.kind === "refused") throw opened.error;
    return opened?.kind === "open" ? opened.connection.hello : null;
  } finally {
    destroy();
  }
}
