import { CodedError, errnoOf, reasonOf } from "@holdfast/shared-process";

/**
 * What an atomic replacement or publication that failed has left. `not_…`: what was there before is there, for certain.
 * `…_not_durable`: the new bytes are there and readers go by them, but a power cut may take them back. `maybe_…`: one or the
 * other, as neither the call that failed nor the look behind it could tell.
 */
export type OutcomeCode =
  | "not_replaced"
  | "maybe_replaced"
  | "replaced_not_durable"
  | "not_published"
  | "maybe_published"
  | "published_not_durable";

const PHRASES: Readonly<Record<OutcomeCode, string>> = {
  not_replaced: "was not replaced",
  maybe_replaced: "may have been replaced, or not",
  replaced_not_durable: "was replaced, but a power cut may bring the old bytes back",
  not_published: "was not published",
  maybe_published: "may have been published, or not",
  published_not_durable: "was published, but a power cut may take it away",
};

/** `data` has the path, `cause` the error of the step that failed. What is an outcome already stays the one it is. */
export function outcomeError(code: OutcomeCode, path: string, cause: unknown): CodedError<OutcomeCode> {
  if (isOutcome(cause)) return cause;
  return new CodedError(code, `${path} ${PHRASES[code]}: ${reasonOf(cause)}`, { data: { path }, cause });
}

/** Whether the error says that the new bytes are there, if not for certain after a power cut. */
export function isInPlace(error: unknown): boolean {
  return isOutcome(error) && (error.code === "replaced_not_durable" || error.code === "published_not_durable");
}

/** Whether the error leaves it possible that the new bytes are there: all but `not_…`. */
export function mayBeInPlace(error: unknown): boolean {
  return isOutcome(error) && error.code !== "not_replaced" && error.code !== "not_published";
}

/** Whether the error says that the name did not get the new file, for certain. */
export function isNotPublished(error: unknown): boolean {
  return isOutcome(error) && error.code === "not_published";
}

/** The error number's name of a system error, also of the one that `stepError` finds; else `null`. */
export const systemErrnoOf = (error: unknown): string | null => errnoOf(stepError(error));

/** The error of the step that failed, where a replacement, a publication or the open of a journal did; else the error itself. */
export function stepError(error: unknown): unknown {
  const isStep = isOutcome(error) || (error instanceof CodedError && error.code === "journal_unavailable");
  return isStep ? stepError(error.cause) : error;
}

function isOutcome(error: unknown): error is CodedError<OutcomeCode> {
  return error instanceof CodedError && Object.hasOwn(PHRASES, error.code);
}
