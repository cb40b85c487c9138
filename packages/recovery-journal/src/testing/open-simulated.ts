import { CodedError } from "@holdfast/shared-process";
import type { FileSystem } from "../file-system.ts";
import { openJournal } from "../journal/open.ts";
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
    ...changes,
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
