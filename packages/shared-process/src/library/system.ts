import { reasonOf } from "../errors.ts";
import { isExhausted } from "./descriptors.ts";
import { loadKoffi } from "./koffi.ts";
import { loadPidfdLibrary } from "./linux.ts";
import type { PidfdLibrary } from "./pidfd.ts";

export type FoundPidfds =
  | { readonly kind: "found"; readonly pidfds: PidfdLibrary }
  /** `passing`: only for want of a descriptor, so that it may be there with the next question (I155). */
  | { readonly kind: "absent"; readonly reason: string; readonly passing: boolean };

let system: FoundPidfds | null = null;

/** This machine's, one for all observers of this process; loads the library with the first call. */
export function systemPidfds(): FoundPidfds {
  if (system !== null) return system;
  const found = loadSystemPidfds();
  if (found.kind === "found" || !found.passing) system = found;
  return found;
}

function loadSystemPidfds(): FoundPidfds {
  const loaded = loadKoffi();
  if (loaded.kind === "absent") return loaded;
  try {
    return { kind: "found", pidfds: loadPidfdLibrary(loaded.koffi, process.pid, process.ppid) };
  } catch (error) {
    // An old kernel (ENOSYS), or a container's filter (EPERM).
    const reason = `the kernel gives no pidfds: ${reasonOf(error)}`;
    return { kind: "absent", reason, passing: isExhausted(error) };
  }
}
