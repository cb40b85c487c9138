import { isDiskFull } from "@holdfast/recovery-journal";
import { CodedError } from "@holdfast/shared-process";

/** The lower layers' own word for it, or the kernel's. */
export const saysDiskFull = (error: unknown): boolean =>
  isDiskFull(error) || (error instanceof CodedError && error.code === "disk_full");
