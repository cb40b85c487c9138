import { CodedError, errnoOf } from "@holdfast/shared-process";
import { dirname, join } from "node:path";
import { removeFile } from "../durable/small-files.ts";
import { syncDirectory } from "../durable/sync-directory.ts";
import type { FileSystem } from "../file-system.ts";
import { segmentName } from "../format.ts";
import { nodeFileSystem } from "../node-file-system.ts";
import { journalError } from "./errors.ts";
import { inspectJournal, listNames } from "./inspect.ts";

/**
 * Removes the segments of a journal that the caller has closed and that nobody else is opening (the next one begins at 1 again), with nothing open and nothing to remember: nothing of that is
 * looked at here. The oldest segment goes first, each durably, so that a crash in between cannot bring back what a newer one
 * ended. A directory with other files in it stays, such as the evidence of quarantines, which is a person's to remove. That it
 * is gone already is fine. Throws the system's error, and, with nothing removed, `CodedError`: `quarantine_unresolved` while
 * there is one that nobody has settled (without its record the next journal would be a fresh one), `journal_unavailable` where
 * that cannot be read.
 */
export function removeJournal(directory: string, fs: FileSystem = nodeFileSystem): void {
  const found = inspectJournal(fs, { directory, kinds: "any" });
  if (found.kind === "refused" && found.why === "unreadable") {
    throw journalError("journal_unavailable", `${found.path}: ${found.message}`);
  }
  const [quarantine] = found.kind === "whole" ? found.state.quarantines.values() : [];
  if (quarantine !== undefined) {
    throw new CodedError("quarantine_unresolved", `${directory}: quarantine ${quarantine.id} is not resolved`, {
      data: { path: directory },
    });
  }
  try {
    const { segments, temporaries } = listNames(fs, directory);
    for (const name of [...temporaries, ...segments.toReversed().map(segmentName)]) {
      removeFile(fs, join(directory, name), { sync: true });
    }
    fs.rmdir(directory);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT") return;
    // Evidence, or what somebody put beside the segments: theirs to remove.
    if (errno === "ENOTEMPTY" || errno === "EEXIST") return;
    throw error;
  }
  syncDirectory(fs, dirname(directory));
}
