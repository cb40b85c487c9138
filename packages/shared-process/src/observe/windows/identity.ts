import type { ProcessIdentity, Signal } from "../../types.ts";
import { systemError } from "../system.ts";

/**
 * A creation time is absolute, so that no boot id is needed to tell two processes apart, and none is recorded: each that
 * Windows has is undocumented, or moves when the clock is set, and would then call a live process one of a previous boot.
 * For the same reason another boot id in a record proves nothing here.
 */
export function comparable(
  recorded: ProcessIdentity,
  observed: ProcessIdentity,
): readonly [ProcessIdentity, ProcessIdentity] {
  return [recorded.bootId === "none" ? recorded : { ...recorded, bootId: null }, observed];
}

/** Numbers are multiples of 4, and Windows rounds others down: 4713 would open the process 4712. */
export const isWindowsPid = (pid: number): boolean => pid % 4 === 0;

/** Windows has no signals. As in libuv SIGTERM ends a process as SIGKILL does; all others would do something else. */
export function refuseOtherSignals(signal: Signal): void {
  if (signal !== "SIGKILL" && signal !== "SIGTERM") throw systemError("ENOSYS", signal);
}
