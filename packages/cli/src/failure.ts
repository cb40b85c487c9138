import { ProtocolError, codeOfErrno, errorCodes, isErrorCode } from "@holdfast/client/protocol";
import type { ErrorCode } from "@holdfast/client/protocol";

/** How a shell command's wrapper says that the failure is its own and not the command's, as `env` and `timeout` do. */
export const OWN_FAILURE_EXIT = 125;

/** Any error in the closed set of codes. One that nobody expected is `internal`: its text, never its stack (I151). */
export function failureOf(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (!(error instanceof Error)) return new ProtocolError("internal", `internal: ${String(error)}`);
  const code = codeOf(behind(error));
  if (isErrorCode(code)) return new ProtocolError(code, error.message);
  const known = codeOfErrno(code);
  return known ? new ProtocolError(known, error.message) : new ProtocolError("internal", `internal: ${error.message}`);
}

/** What kept a file from being written, or a journal from being opened, is what matters here. */
const behind = (error: unknown): unknown =>
  error instanceof Error && OUTCOME.test(codeOf(error)) ? behind(error.cause) : error;

/** The codes that say what became of a file. Their package is not loaded for them: most commands do without. */
const OUTCOME = /^(?:(?:not|maybe)_(?:replaced|published)|(?:replaced|published)_not_durable|journal_unavailable)$/;

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

export const exitOf = (code: ErrorCode): number => errorCodes[code].exit;

export interface FailureForm {
  readonly json: boolean;
  readonly requestId: string | null;
}

/** What goes to standard error: a line for programs, or a sentence and the next step. */
export function failureText(
  { code, message, retryable, hint }: ProtocolError,
  { json, requestId }: FailureForm,
): string {
  if (json) return `${JSON.stringify({ error: { code, message, retryable, hint: hint ?? null, requestId } })}\n`;
  const next = hint === undefined ? "" : `hint: ${oneLine(hint)}\n`;
  return `error: ${oneLine(message)}\n${next}`;
}

/** A message may quote a name or path: no line breaks, terminal sequences or turned directions from there. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ");
