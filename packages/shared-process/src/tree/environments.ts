import { readValues, type Values } from "../observe/environment.ts";
import { observe, userOf } from "../observe/observe.ts";
import { errnoOf } from "../errors.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import { isDefunct, parseStat, type ProcessStat } from "../stat.ts";
import type { Host, Marker, ProcessIdentity } from "../types.ts";
import { listProcesses } from "./list.ts";
import { sumUsage, type TreeUsage, uptimeSeconds } from "./usage.ts";

export interface FoundProcess {
  readonly identity: ProcessIdentity;
  readonly command: string;
  readonly ppid: number;
  /** Of the names that were asked for, those in its environment. Whoever started it chose them: they prove nothing. */
  readonly values: Values;
}

export interface EnvironmentScan {
  /** `incomplete`: there may be more than was found, for the reason in `problem`. */
  readonly kind: "complete" | "incomplete";
  readonly processes: readonly FoundProcess[];
  /** Processes whose environment we may not read. */
  readonly unreadable: number;
  readonly problem?: string;
  /** As `treeUsage`, from what this scan has read; of the marker's names those that the scan was asked for. */
  usageOf(pid: number, marker?: Marker): TreeUsage | null;
  /** The numbers above a process, nearest first, as they were at the scan. */
  ancestorsOf(pid: number): readonly number[];
}

export interface EnvironmentScanOptions {
  readonly names: readonly string[];
  /** Programs that count by their name alone, as the kernel cuts it (15 bytes). */
  readonly commands: readonly string[];
  readonly ports?: ProcessPorts;
}

/**
 * The caller's own user's running processes that have one of the names in their environment, or one of the commands as
 * their name, without the caller: one pass over /proc. Processes of other pid namespaces are left out: their numbers are
 * others' in the records that they keep.
 */
export function scanEnvironments(options: EnvironmentScanOptions): EnvironmentScan {
  const ports = options.ports ?? systemPorts;
  const list = listProcesses(ports);
  if (list.kind === "blind") {
    const nothing = { usageOf: () => null, ancestorsOf: () => [] };
    return { kind: "incomplete", processes: [], unreadable: 0, problem: list.problem, ...nothing };
  }
  const stats = new Map<number, ProcessStat>();
  const processes: FoundProcess[] = [];
  let unreadable = 0;
  let problem: string | undefined;
  for (const pid of list.pids) {
    const looked = look(ports, pid, { ...options, host: list.host });
    if ("stat" in looked && looked.stat) stats.set(pid, looked.stat);
    if (looked.kind === "unreadable") unreadable += 1;
    if (looked.kind === "unknown") problem ??= `process ${pid}: ${looked.why}`;
    if (looked.kind === "found") processes.push(looked.process);
  }
  const values = new Map(processes.map((found) => [found.identity.pid, found.values]));
  const uptime = uptimeSeconds(ports);
  return {
    kind: problem === undefined ? "complete" : "incomplete",
    processes,
    unreadable,
    ...(problem === undefined ? {} : { problem }),
    usageOf: (pid, marker) =>
      sumUsage(stats, pid, {
        carries: (other) => marker !== undefined && values.get(other)?.[marker.name] === marker.value,
        uptimeSeconds: uptime,
      }),
    ancestorsOf: (pid) => ancestors(stats, pid),
  };
}

type Looked =
  | { readonly kind: "found"; readonly stat: ProcessStat; readonly process: FoundProcess }
  | { readonly kind: "other"; readonly stat: ProcessStat }
  | { readonly kind: "unreadable"; readonly stat?: ProcessStat }
  | { readonly kind: "vanished" }
  | { readonly kind: "unknown"; readonly why: string };

interface Wanted extends EnvironmentScanOptions {
  readonly host: Host;
}

function look(ports: ProcessPorts, pid: number, wanted: Wanted): Looked {
  const read = readStat(ports, pid);
  if (read.kind !== "read") return read;
  const { stat } = read;
  if (pid === ports.pid || isDefunct(stat)) return { kind: "other", stat };
  const environment = readValues(ports, pid, wanted.names);
  if (environment.kind === "vanished") return environment;
  // As in a scan by marker: other users' processes must not make every scan incomplete.
  if (environment.kind === "denied") return { kind: "unreadable", stat };
  if (environment.kind === "descriptors-exhausted") return { kind: "unknown", why: environment.kind };
  const { values } = environment;
  if (!wanted.commands.includes(stat.command) && Object.keys(values).length === 0) return { kind: "other", stat };
  return confirm(ports, { stat, values, host: wanted.host });
}

/** What was read belongs together only if the same process has the number after it. */
function confirm(
  ports: ProcessPorts,
  { stat, values, host }: { readonly stat: ProcessStat; readonly values: Values; readonly host: Host },
): Looked {
  const { pid, startTicks } = stat;
  const user = userOf(ports, pid);
  if (user.kind === "unknown") return { kind: "unknown", why: user.why };
  const seen = observe(ports, pid);
  if (seen.kind === "unknown") return { kind: "unknown", why: seen.why };
  if (user.kind === "gone" || seen.kind !== "process" || seen.stat.startTicks !== startTicks || isDefunct(seen.stat))
    return { kind: "vanished" };
  if (user.uid !== ports.uid || isElsewhere(ports, pid, host)) return { kind: "other", stat };
  const identity = { ...host, pid, startTicks, pidfsInode: null };
  return { kind: "found", stat, process: { identity, command: seen.stat.command, ppid: seen.stat.ppid, values } };
}

function isElsewhere(ports: ProcessPorts, pid: number, { pidNamespace }: Host): boolean {
  try {
    return pidNamespace !== null && ports.readLink(`/proc/${pid}/ns/pid`) !== pidNamespace;
  } catch {
    // Its environment could be read, so this can be, too; if it ended meanwhile, the next look at its identity says so.
    return false;
  }
}

function readStat(
  ports: ProcessPorts,
  pid: number,
): { readonly kind: "read"; readonly stat: ProcessStat } | Exclude<Looked, { kind: "found" | "other" }> {
  try {
    const parsed = parseStat(ports.readFile(`/proc/${pid}/stat`));
    return parsed.kind === "parsed" ? { kind: "read", stat: parsed.stat } : { kind: "unknown", why: "unparsable" };
  } catch (error) {
    const errno = errnoOf(error) ?? "";
    if (errno === "ENOENT" || errno === "ESRCH") return { kind: "vanished" };
    const exhausted = errno === "EMFILE" || errno === "ENFILE";
    return exhausted ? { kind: "unknown", why: "descriptors-exhausted" } : { kind: "unreadable" };
  }
}

function ancestors(stats: ReadonlyMap<number, ProcessStat>, pid: number): number[] {
  const above: number[] = [];
  // Parents are read at different moments, so with recycled numbers they can form a ring.
  for (let at = stats.get(pid)?.ppid; at !== undefined && at > 0 && !above.includes(at); at = stats.get(at)?.ppid)
    above.push(at);
  return above;
}
