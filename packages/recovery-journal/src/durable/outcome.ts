import { CodedError, errnoOf, reasonOf } from "@holdfast/shared-process";

/**
 * What an atomic replacement or publication that failed has left. `not_…`: what was there before is there, for certain.
 * `…_not_durable`: the new bytes are there and readers go by them, but a power cut may take them back.
 */
export type OutcomeCode = "not_replaced" | "replaced_not_durable" | "not_published" | "published_not_durable";

const PHRASES: Readonly<Record<OutcomeCode, string>> = {
  not_replaced: "was not replaced",
  replaced_not_durable: "was replaced, but a power cut may bring the old bytes back",
  not_published: "was not published",
  published_not_durable: "was published, but a power cut may take it away",
};

/** `data` has the path, `cause` the error of the step that failed. */
export function outcomeError(code: OutcomeCode, path: string, cause: unknown): CodedError<OutcomeCode> {
  return new CodedError(code, `${path} ${PHRASES[code]}: ${reasonOf(cause)}`, { data: { path }, cause });
}

/** Whether the error says that the new bytes are there, if not for certain after a power cut. */
export function isInPlace(error: unknown): boolean {
  return isOutcome(error) && (error.code === "replaced_not_durable" || error.code === "published_not_durable");
}

/** Whether the error says that the name is nobody's, for certain. */
export function isNotPublished(error: unknown): boolean {
  return isOutcome(error) && error.code === "not_published";
}

/** The error number's name of a system error, also of the one behind a failed replacement or publication; else `null`. */
export const systemErrnoOf = (error: unknown): string | null => errnoOf(stepError(error));

/** The error of the step that failed, where a replacement or publication did. */
export const stepError = (error: unknown): unknown => (isOutcome(error) ? error.cause : error);

function isOutcome(error: unknown): error is CodedError<OutcomeCode> {
  return error instanceof CodedError && Object.hasOwn(PHRASES, error.code);
}
