import { CodedError, errnoOf, reasonOf, systemClock } from "@holdfast/shared-process";
import { dirname } from "node:path";
import { ensurePrivateDirectory } from "../durable/private-directory.ts";
import { syncDirectory } from "../durable/sync-directory.ts";
import { isDiskFull } from "../durable/write-all.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import type { Journal, JournalOwner, OpenJournalOptions, OpenJournalResult } from "../types.ts";
import { claimNext, type ClaimRequest, createFirst, type Whole } from "./claim.ts";
import { type Inspection, inspectJournal, refuse } from "./inspect.ts";
import { diskFull } from "./errors.ts";
import { reportOf } from "./read.ts";
import { DEFAULT_REMEMBER } from "./remember.ts";
import type { SegmentFile } from "./segment-file.ts";
import { emptyState, type JournalState } from "./state.ts";
import { JournalWriter } from "./writer.ts";

/** Every lost attempt means that another opener got further; more than this many are not to be expected. */
const CLAIM_ATTEMPTS = 8;

/**
 * Opens a journal for its one writer. Refused journals keep every byte. Throws `CodedError`: `disk_full` (nothing was
 * changed), `unsafe_directory`, `journal_full` (the state exceeds the largest segment), `journal_busy` (other openers kept winning),
 * `journal_unavailable` (any other error of the disk). An owner of the caller's own generation is not probed: it is the
 * caller's earlier writer, and the claim fences it.
 */
export async function openJournal<Kind extends string>(
  options: OpenJournalOptions<Kind>,
): Promise<OpenJournalResult<Kind>> {
  const fs = options.fs ?? nodeFileSystem;
  const request: ClaimRequest = { fs, directory: options.directory, owner: options.owner, kinds: options.kinds };
  try {
    for (let attempt = 1; attempt <= CLAIM_ATTEMPTS; attempt += 1) {
      const result = openOnce(options, request);
      if (result !== "lost") return result;
    }
  } catch (error) {
    if (isDiskFull(error)) throw diskFull(options.directory, error);
    if (errnoOf(error) === null) throw error;
    throw new CodedError("journal_unavailable", `the journal cannot be opened: ${reasonOf(error)}`, {
      data: { path: options.directory },
      cause: error,
    });
  }
  throw new CodedError("journal_busy", "others are opening the journal", { data: { path: options.directory } });
}

function openOnce<Kind extends string>(
  options: OpenJournalOptions<Kind>,
  request: ClaimRequest,
): OpenJournalResult<Kind> | "lost" {
  const { fs, directory, kinds } = request;
  const found = inspectJournal(fs, { directory, kinds });
  switch (found.kind) {
    case "refused":
      return found;
    case "fresh": {
      if (options.expect === "existing") return refuse("missing", directory, "the journal is missing");
      ensurePrivateDirectory(fs, directory);
      // Also where the directory was there: whoever made it may have failed before its name was durable.
      syncDirectory(fs, dirname(directory));
      const state = emptyState();
      const file = createFirst(request, state);
      return file === null ? "lost" : opened(options, { file, state, found });
    }
    case "whole": {
      const owner = standingOwner(options, found);
      if (owner !== null) return { kind: "owned", owner };
      const claim = claimNext(request, found);
      if (claim.kind === "lost" || claim.kind === "refused") return claim.kind === "lost" ? "lost" : claim;
      if (claim.kind === "too-large") throw new CodedError("journal_full", "the journal's state exceeds a segment");
      return opened(options, { file: claim.file, state: claim.base.state, found: claim.base });
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
  from: { file: SegmentFile; state: JournalState; found: Exclude<Inspection, { kind: "refused" }> },
): Extract<OpenJournalResult<Kind>, { kind: "opened" }> {
  const report = reportOf(from.found, options.kinds);
  from.state.released = false;
  const journal: Journal<Kind> = new JournalWriter<Kind>({
    place: { fs: options.fs ?? nodeFileSystem, directory: options.directory },
    file: from.file,
    state: from.state,
    owner: options.owner,
    kinds: options.kinds,
    engine: options.engine ?? "inline",
    now: options.now ?? Date.now,
    clock: options.clock ?? systemClock,
    remember: options.remember ?? DEFAULT_REMEMBER,
  });
  return { kind: "opened", journal, report };
}
