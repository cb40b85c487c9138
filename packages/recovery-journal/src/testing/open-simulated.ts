import { type Clock, CodedError } from "@holdfast/shared-process";
import type { FileSystem } from "../file-system.ts";
import { openJournal } from "../journal/open.ts";
import { MARK_DELAY_MS } from "../journal/rest-timer.ts";
import type { Journal, OpenJournalOptions } from "../types.ts";

export const SIMULATED_KINDS = ["prompt", "tool", "restored-action"] as const;
export type SimulatedKind = (typeof SIMULATED_KINDS)[number];
export const SIMULATED_DIRECTORY = "/journal";

/** Options for a journal on a simulated disk whose former owners are all gone. */
export function simulatedOptions(
  disk: FileSystem,
  changes: Partial<OpenJournalOptions<SimulatedKind>> = {},
): OpenJournalOptions<SimulatedKind> {
  return {
    directory: SIMULATED_DIRECTORY,
    owner: { generation: "g1", identity: {} },
    kinds: SIMULATED_KINDS,
    probeOwner: () => "gone",
    fs: disk,
    now: () => 1_000_000,
    clock: unhurriedClock(),
    ...changes,
  };
}

/**
 * Time for a journal that nobody hurries: each batch has its mark before its promises resolve, no segment fills up fast,
 * and no test waits until a segment shrinks. A test about these passes a clock of its own.
 */
function unhurriedClock(): Pick<Clock, "monotonic" | "setTimer"> {
  let elapsedMs = 0;
  return {
    monotonic: () => (elapsedMs += 60_000),
    setTimer: (delayMs, callback) => {
      if (delayMs <= MARK_DELAY_MS) queueMicrotask(callback);
      return { [Symbol.dispose]: () => undefined };
    },
  };
}

/** Opens such a journal; throws `CodedError("not_opened")` for any other result. */
export async function openSimulated(
  disk: FileSystem,
  changes: Partial<OpenJournalOptions<SimulatedKind>> = {},
): Promise<Journal<SimulatedKind>> {
  const result = await openJournal(simulatedOptions(disk, changes));
  if (result.kind !== "opened") throw new CodedError("not_opened", JSON.stringify(result));
  return result.journal;
}
