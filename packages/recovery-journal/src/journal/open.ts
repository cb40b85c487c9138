import { systemClock } from "@holdfast/shared-process";
import { type LegacyWork, openLegacyWork } from "../legacy/read-legacy.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import type { Journal, JournalOwner, OpenJournalOptions, OpenJournalResult } from "../types.ts";
import { untilNotLost } from "./attempts.ts";
import { storedOwner } from "./owner.ts";
import { claimNext, type ClaimRequest, createFirst, prepareDirectory, type Whole } from "./claim.ts";
import { journalError } from "./errors.ts";
import { type Inspection, inspectJournal, refuse } from "./inspect.ts";
import { reportOf } from "./read.ts";
import { DEFAULT_REMEMBER } from "./remember.ts";
import type { SegmentFile } from "./segment-file.ts";
import { emptyState, type JournalState } from "./state.ts";
import { JournalWriter } from "./writer.ts";

/**
 * Opens a journal for its one writer. Refused journals keep every byte. Throws `CodedError`: `disk_full` and
 * `journal_unavailable` (any other error of the disk, which is the cause), `journal_full` (the state exceeds the largest
 * segment), `journal_busy` (other openers kept winning), `record_too_large` (the owner's name). None of them loses an
 * acknowledged record; an error of the disk may leave an unfinished claim, or a first segment, of the caller's generation:
 * with the same one a later open goes on, any other probes it. An owner of the caller's own generation is not probed: it is the caller's earlier writer,
 * and the claim fences it. A journal whose report has a quarantine opens, so that it can be resolved: until then its owner
 * serves nothing from it.
 */
export async function openJournal<Kind extends string>(
  options: OpenJournalOptions<Kind>,
): Promise<OpenJournalResult<Kind>> {
  const fs = options.fs ?? nodeFileSystem;
  const { directory, kinds, newSalt } = options;
  const owner = storedOwner(options.owner);
  const request: ClaimRequest = { fs, directory, owner, kinds, ...(newSalt ? { newSalt } : {}) };
  return untilNotLost(directory, () => {
    const legacy = openLegacyWork(options.legacy, fs);
    return "kind" in legacy ? legacy : openOnce(options, request, legacy);
  });
}

function openOnce<Kind extends string>(
  options: OpenJournalOptions<Kind>,
  request: ClaimRequest,
  legacy: LegacyWork,
): OpenJournalResult<Kind> | "lost" {
  const { fs, directory, kinds } = request;
  const found = inspectJournal(fs, { directory, kinds });
  switch (found.kind) {
    case "refused":
      return found;
    case "fresh": {
      if (options.expect === "existing") return refuse("missing", directory, "the journal is missing");
      prepareDirectory(request);
      const file = createFirst(request);
      return file === null ? "lost" : opened(options, { file, state: emptyState(), found, place: request, legacy });
    }
    case "whole": {
      const owner = standingOwner(options, found);
      if (owner !== null) return { kind: "owned", owner };
      const claim = claimNext(request, found);
      if (claim.kind === "lost") return "lost";
      if (claim.kind === "refused") return claim;
      if (claim.kind === "too-large") throw journalError("journal_full", "the journal's state exceeds a segment");
      return opened(options, { file: claim.file, state: claim.base.state, found: claim.base, place: request, legacy });
    }
  }
}

/** The owner that is not proven gone: of the journal, unless it released it, or of an unfinished claim above. */
function standingOwner<Kind extends string>(options: OpenJournalOptions<Kind>, found: Whole): JournalOwner | null {
  const owners = [found.claim?.owner, found.state.released ? undefined : found.head.owner];
  for (const owner of owners) {
    if (owner === undefined || owner.generation === options.owner.generation) continue;
    if (options.probeOwner(owner) !== "gone") return owner;
  }
  return null;
}

function opened<Kind extends string>(
  options: OpenJournalOptions<Kind>,
  from: {
    file: SegmentFile;
    state: JournalState;
    found: Exclude<Inspection, { kind: "refused" }>;
    place: ClaimRequest;
    legacy: LegacyWork;
  },
): Extract<OpenJournalResult<Kind>, { kind: "opened" }> {
  const { file, state, place, legacy } = from;
  const report = { ...reportOf(from.found, options.kinds), legacy };
  state.released = false;
  const journal: Journal<Kind> = new JournalWriter<Kind>({
    place,
    file,
    state,
    owner: place.owner,
    kinds: options.kinds,
    engine: options.engine ?? "inline",
    now: options.now ?? Date.now,
    clock: options.clock ?? systemClock,
    remember: options.remember ?? DEFAULT_REMEMBER,
  });
  return { kind: "opened", journal, report };
}
