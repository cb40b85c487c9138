import { constants } from "node:os";
import type { ProcessPorts } from "../ports.ts";
import { namesByNumber } from "../library/call.ts";
import { isDefunct, parseStat } from "../stat.ts";
import type { ExitInfo } from "../types.ts";

const signalNames = namesByNumber(constants.signals);

/** The status of waitpid(2): an exit code, or the signal that ended it. */
export function statusFromWait(status: number): NonNullable<ExitInfo["status"]> {
  const signal = status & 0x7f;
  return signal === 0 ? { code: (status >> 8) & 0xff } : { signal: signalNames.get(signal) ?? `SIG${signal}` };
}

/**
 * The status that a zombie keeps for its parent, from the last field of its stat file; `null` where it is no zombie, or the
 * kernel hides it. The caller confirms that the number was still its own after this. A hidden status reads as 0, so that 0
 * counts only for a process of the very same user, group and capabilities (proc_pid_stat(5), `exit_code`; ptrace(2), access
 * mode checking).
 */
export function zombieStatus(ports: ProcessPorts, pid: number): ExitInfo["status"] {
  try {
    const parsed = parseStat(ports.readFile(`/proc/${pid}/stat`));
    if (parsed.kind === "unparsable" || parsed.stat.pid !== pid || !isDefunct(parsed.stat)) return null;
    const { exitStatus } = parsed.stat;
    if (exitStatus === null) return null;
    return exitStatus !== 0 || powersOf(ports, pid) === powersOf(ports, ports.pid) ? statusFromWait(exitStatus) : null;
  } catch {
    // Reaped meanwhile, or hidden: whoever asks has another way, or does without.
    return null;
  }
}

const powersOf = (ports: ProcessPorts, pid: number): string =>
  (ports.readFile(`/proc/${pid}/status`).match(/^(?:[UG]id|CapPrm):.*$/gm) ?? [`nobody's ${pid}`]).join("\n");
