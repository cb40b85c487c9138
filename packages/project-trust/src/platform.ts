import type { DirectoryCalls } from "./calls.ts";
import { type Denied, denied } from "./reasons.ts";
import { NO_PROC } from "./walk.ts";

/** Why nothing can be proven of a directory here; `null` where it can be. */
export function platformProblem(platform: string, calls: DirectoryCalls): Denied | null {
  if (platform !== "linux") return denied("unsupported_platform", `trust in directories is not there for ${platform}`);
  return calls.hasProc() ? null : denied("unsupported_platform", NO_PROC);
}
