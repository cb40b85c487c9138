import { errnoOf } from "../errors.ts";
import type { ProcessPorts } from "../ports.ts";
import { parseStat, type ProcessStat } from "../stat.ts";
import type { UnknownWhy, Verdict } from "../types.ts";

/** What has a number now. `permitted: false` (EPERM) says that it exists and is not ours to signal (I105). */
export type Observation =
  | { readonly kind: "process"; readonly stat: ProcessStat; readonly uid: number; readonly permitted: boolean }
  | { readonly kind: "thread" }
  | { readonly kind: "absent" }
  | { readonly kind: "unknown"; readonly why: UnknownWhy };

const unknown = (why: UnknownWhy): Observation => ({ kind: "unknown", why });

/** `process.kill` turns `""`, `[]` and `true` into 0 or 1, so nothing but a positive safe integer ever gets there. */
export function isPid(pid: unknown): pid is number {
  return typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 && pid <= 0x7fff_ffff;
}

/** Existence by kill(pid, 0), everything else by /proc. The stat file is read last: it is what a signal relies on. */
export function observe(ports: ProcessPorts, pid: number): Observation {
  if (!isPid(pid)) return unknown("unparsable");
  const existence = probe(ports, pid);
  if (existence === "absent") return { kind: "absent" };
  if (existence === "unknown") return unknown("denied");
  const blind = whyProcIsBlind(ports);
  if (blind !== null) return unknown(blind);
  try {
    const status = ports.readFile(`/proc/${pid}/status`);
    const group = /^Tgid:\t(\d+)$/m.exec(status)?.[1];
    if (group === undefined) return unknown("unparsable");
    // kill(2) takes the number of any thread and hits its whole process.
    if (group !== String(pid)) return { kind: "thread" };
    const parsed = parseStat(ports.readFile(`/proc/${pid}/stat`));
    if (parsed.kind === "unparsable" || parsed.stat.pid !== pid) return unknown("unparsable");
    return { kind: "process", stat: parsed.stat, uid: uidIn(status), permitted: existence === "permitted" };
  } catch (error) {
    const why = whyUnreadable(ports, pid, error);
    return why.kind === "gone" ? { kind: "absent" } : why;
  }
}

/** The real user; -1, which is nobody, where the line is missing. */
const uidIn = (status: string): number => Number(/^Uid:\t(\d+)\t/m.exec(status)?.[1] ?? -1);

/** EPERM: it exists and is another user's (I105). */
export const isPermitted = (ports: ProcessPorts, pid: number): boolean => probe(ports, pid) === "permitted";

function probe(ports: ProcessPorts, pid: number): "permitted" | "foreign" | "absent" | "unknown" {
  try {
    ports.kill(pid, 0);
    return "permitted";
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ESRCH") return "absent";
    return errno === "EPERM" ? "foreign" : "unknown";
  }
}

/** A /proc of another pid namespace shows readable files of strangers under our numbers. */
export function whyProcIsBlind(ports: ProcessPorts): UnknownWhy | null {
  try {
    return ports.readLink("/proc/self") === String(ports.pid) ? null : "foreign-proc";
  } catch {
    // Whatever the error is, /proc does not show us ourselves, so it shows nothing that can be trusted.
    return "no-proc";
  }
}

/** Why a file of a process in /proc cannot be read. A missing file proves nothing (hidepid, chroot, another mount): only ESRCH does. */
export function whyUnreadable(
  ports: ProcessPorts,
  pid: number,
  error: unknown,
): Extract<Verdict, { kind: "gone" | "unknown" }> {
  switch (errnoOf(error) ?? "") {
    case "ENOENT":
    case "ESRCH":
      return probe(ports, pid) === "absent" ? { kind: "gone", why: "no-such-pid" } : { kind: "unknown", why: "hidden" };
    case "EMFILE":
    case "ENFILE":
      return { kind: "unknown", why: "descriptors-exhausted" };
    default:
      return { kind: "unknown", why: "denied" };
  }
}
