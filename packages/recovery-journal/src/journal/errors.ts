import { CodedError } from "@holdfast/shared-process";
import { stepError } from "../durable/outcome.ts";

/** Why a journal was not opened or did not take a record. All but `journal_poisoned` and `journal_fenced` say that it is not there. */
export type JournalErrorCode =
  | "disk_full"
  | "duplicate_operation"
  | "duplicate_request"
  | "journal_closed"
  | "journal_fenced"
  | "journal_full"
  | "journal_poisoned"
  | "journal_unavailable"
  | "record_too_large"
  | "stale_token"
  | "unknown_quarantine";

export function journalError(code: JournalErrorCode, message: string, cause?: unknown): CodedError<JournalErrorCode> {
  return new CodedError(code, message, cause === undefined ? {} : { cause });
}

export function diskFull(path: string, cause: unknown): CodedError<"disk_full"> {
  return new CodedError("disk_full", "the disk is full", { data: { path }, cause: stepError(cause) });
}
