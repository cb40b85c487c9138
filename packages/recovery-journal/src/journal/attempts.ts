import { CodedError, errnoOf, reasonOf } from "@holdfast/shared-process";
import { stepError } from "../durable/outcome.ts";
import { isDiskFull } from "../durable/write-all.ts";
import { diskFull } from "./errors.ts";

/** Every lost attempt means that another opener got further; more than this many are not to be expected. */
const ATTEMPTS = 8;

/** Runs `once` until nobody else was quicker. Throws what `openJournal` says of the disk and of others. */
export function untilNotLost<T>(directory: string, once: () => T | "lost"): T {
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const result = once();
      if (result !== "lost") return result;
    }
  } catch (error) {
    if (isDiskFull(error)) throw diskFull(directory, error);
    const step = stepError(error);
    if (errnoOf(step) === null) throw step;
    throw new CodedError("journal_unavailable", `the journal cannot be opened: ${reasonOf(error)}`, {
      data: { path: directory },
      cause: step,
    });
  }
  throw new CodedError("journal_busy", "others are opening the journal", { data: { path: directory } });
}
