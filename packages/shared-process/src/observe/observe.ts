import { errnoOf } from "../errors.ts";
import type { ProcessPorts } from "../ports.ts";
import { parseStat, type ProcessStat } from "../stat.ts";
import type { UnknownWhy, Verdict } from "../types.ts";

/** What has a number now. `permitted: false` (EPERM) says that it exists and is not ours to signal (I105). */
export type Observation =
  | { readonly kind: "process"; readonly stat: ProcessStat; readonly permitted: boolean }
  | { readonly kind: "thread" }
  | { readonly kind: "absent" }
  | { readonly kind: "unknown"; readonly why: UnknownWhy };

type Unknown = Extract<Observation, { kind: "unknown" }>;

const unknown = (why: UnknownWhy): Unknown => ({ kind: "unknown", why });

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
    const seen = lookAt(ports, pid);
    if (seen.kind !== "process") return seen;
    return { kind: "process", stat: seen.stat, permitted: existence === "permitted" };
  } catch (error) {
    const why = whyUnreadable(ports, pid, error);
    return why.kind === "gone" ? { kind: "absent" } : why;
  }
}

type Looked = { readonly kind: "process"; readonly stat: ProcessStat } | { readonly kind: "thread" } | Unknown;

/** kill(2) takes the number of any thread and hits its whole process, so a thread's number must be told apart. */
function lookAt(ports: ProcessPorts, pid: number): Looked {
  const stat = readStat(ports, pid);
  if (stat === null) return unknown("unparsable");
  const exitSignal = stat.exitSignal ?? 0;
  if (exitSignal < 0) return { kind: "thread" };
  if (exitSignal > 0) return { kind: "process", stat };
  // Made without an exit signal, or by a /proc that leaves the field open. A second file says it, at twice the cost.
  const group = statusNumber(ports, pid, /^Tgid:\t(\d+)$/m);
  if (group === null) return unknown("unparsable");
  if (group !== pid) return { kind: "thread" };
  const last = readStat(ports, pid);
  return last === null ? unknown("unparsable") : { kind: "process", stat: last };
}

/** `null` where it cannot be understood. */
function readStat(ports: ProcessPorts, pid: number): ProcessStat | null {
  const parsed = parseStat(ports.readFile(`/proc/${pid}/stat`));
  return parsed.kind === "parsed" && parsed.stat.pid === pid ? parsed.stat : null;
}

function statusNumber(ports: ProcessPorts, pid: number, line: RegExp): number | null {
  const digits = line.exec(ports.readFile(`/proc/${pid}/status`))?.[1];
  return digits === undefined ? null : Number(digits);
}

/** The real user of whoever has the number now. Another look has to follow, which tells whose it was. */
export function userOf(ports: ProcessPorts, pid: number): UserRead {
  try {
    const uid = statusNumber(ports, pid, /^Uid:\t(\d+)\t/m);
    return uid === null ? unknown("unparsable") : { kind: "read", uid };
  } catch (error) {
    return whyUnreadable(ports, pid, error);
  }
}

type UserRead = { readonly kind: "read"; readonly uid: number } | Extract<Verdict, { kind: "gone" | "unknown" }>;

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
