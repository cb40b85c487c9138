import type { FileSystem } from "../file-system.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import type { JournalReport } from "../types.ts";
import { type Inspection, inspectJournal } from "./inspect.ts";
import { openOperations } from "./state.ts";

/** What a journal says, read without writing. `kinds` is the closed set of operation kinds; another one is corruption. */
export function readJournal<Kind extends string>(
  directory: string,
  kinds: readonly Kind[],
  fs: FileSystem = nodeFileSystem,
): JournalReport<Kind> {
  const inspection = inspectJournal(fs, { directory, kinds });
  return inspection.kind === "refused" ? inspection : reportOf(inspection, kinds);
}

export function reportOf<Kind extends string>(
  inspection: Exclude<Inspection, { kind: "refused" }>,
  kinds: readonly Kind[],
): Exclude<JournalReport<Kind>, { kind: "refused" }> {
  if (inspection.kind === "fresh") return { kind: "fresh" };
  const { segment, head, state, tornBytes } = inspection;
  return {
    kind: "ok",
    segment,
    owner: head.owner,
    released: state.released,
    // The state goes on with the open journal; what is reported stays.
    open: openOperations(state, kinds),
    remembered: [...state.requests.values()],
    quarantines: [...state.quarantines.values()],
    tornBytes,
  };
}
