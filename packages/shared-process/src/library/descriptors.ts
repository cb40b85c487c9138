import { closeSync, openSync } from "node:fs";
import { errnoOf } from "../errors.ts";

/** Whether something failed because no descriptor was left; whoever swallows the errno is asked by trying. */
export function isExhausted(error: unknown): boolean {
  if (isExhaustion(error)) return true;
  try {
    closeSync(openSync("/dev/null", "r"));
    return false;
  } catch (probed) {
    return isExhaustion(probed);
  }
}

export const isExhaustion = (error: unknown): boolean => ["EMFILE", "ENFILE"].includes(errnoOf(error) ?? "");

/** One descriptor kept back, so that with none left a look at a process is still possible. */
export interface Reserve {
  /** `false`: it was given up before. */
  readonly giveUp: () => boolean;
  readonly take: () => void;
}

export function createReserve(): Reserve {
  let spare = openSpare();
  return {
    giveUp: () => {
      if (spare === null) return false;
      closeSync(spare);
      spare = null;
      return true;
    },
    take: () => {
      spare ??= openSpare();
    },
  };
}

function openSpare(): number | null {
  try {
    return openSync("/dev/null", "r");
  } catch {
    // None is free now; the next close tries again.
    return null;
  }
}
