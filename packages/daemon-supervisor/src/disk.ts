import { isDiskFull, systemErrnoOf } from "@holdfast/recovery-journal";
import { CodedError } from "@holdfast/shared-process";

/** The lower layers' own word for it, or the kernel's. */
export const saysDiskFull = (error: unknown): boolean =>
  isDiskFull(error) || (error instanceof CodedError && error.code === "disk_full");

/** Whether the error says that nothing can be written for now: there is no room, or the disk is read-only. */
export const takesNothing = (error: unknown): boolean => saysDiskFull(error) || systemErrnoOf(error) === "EROFS";
