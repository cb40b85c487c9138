import { searchEnvironment } from "../observe/environment.ts";
import { observe } from "../observe/observe.ts";
import { type ProcessPorts, systemPorts } from "../ports.ts";
import { isDefunct } from "../stat.ts";
import type { Host, Marker, ProcessIdentity } from "../types.ts";
import { listProcesses } from "./list.ts";

export interface MarkedProcess {
  readonly identity: ProcessIdentity;
  readonly command: string;
}

export interface MarkedScan {
  /** `incomplete`: there may be more than was found, for the reason in `problem`. */
  readonly kind: "complete" | "incomplete";
  readonly processes: readonly MarkedProcess[];
  /**
   * Processes whose environment we may not read: other users' and those that closed their memory, as ssh-agent does.
   */
  readonly unreadable: number;
  readonly problem?: string;
}

/**
 * All running processes with exactly `NAME=VALUE` in their environment, without the caller. Zombies do not run (I98).
 */
export function scanMarked(marker: Marker, ports: ProcessPorts = systemPorts): MarkedScan {
  const list = listProcesses(ports);
  if (list.kind === "blind") return { kind: "incomplete", processes: [], unreadable: 0, problem: list.problem };
  const processes: MarkedProcess[] = [];
  let unreadable = 0;
  let problem: string | null = null;
  for (const pid of list.pids) {
    if (pid === ports.pid) continue;
    const found = examine(ports, pid, { marker, host: list.host });
    if (found === "unreadable") unreadable += 1;
    else if (typeof found === "string") problem = problem ?? `process ${pid}: ${found}`;
    else if (found !== null) processes.push(found);
  }
  if (problem !== null) return { kind: "incomplete", processes, unreadable, problem };
  return { kind: "complete", processes, unreadable };
}

/** `null`: not a member. A text: it may be one, and this is why nobody can tell. */
function examine(
  ports: ProcessPorts,
  pid: number,
  { marker, host }: { readonly marker: Marker; readonly host: Host },
): MarkedProcess | string | null {
  const search = searchEnvironment(ports, pid, marker);
  if (search === "absent" || search === "vanished") return null;
  // Counting it as a problem would make every scan of an ordinary desktop incomplete for ever.
  if (search === "denied") return "unreadable";
  if (search === "descriptors-exhausted") return search;
  const seen = observe(ports, pid);
  if (seen.kind === "absent" || seen.kind === "thread") return null;
  if (seen.kind === "unknown") return seen.why;
  if (isDefunct(seen.stat)) return null;
  const { startTicks, command } = seen.stat;
  return { identity: { ...host, pid, startTicks, pidfsInode: null }, command };
}
