import { errnoOf } from "../errors.ts";
import { searchEnvironment } from "../observe/environment.ts";
import type { ProcessPorts } from "../ports.ts";
import { parseStat, type ProcessStat } from "../stat.ts";
import type { Host, Marker } from "../types.ts";
import { listProcesses } from "./list.ts";

export interface Row {
  readonly stat: ProcessStat;
  readonly marked: boolean;
}

export type Rows = ReadonlyMap<number, Row>;

/** All processes by number, zombies and the caller too, as they were read one after the other: it proposes, and proves nothing. */
export interface Table {
  /** `incomplete`: there may be more than was found, for the reason in `problem`. */
  readonly kind: "complete" | "incomplete";
  readonly problem: string | null;
  readonly host: Host;
  readonly rows: Rows;
  /** Processes whose environment we may not read: other users' and those that closed their memory, as ssh-agent does. */
  readonly unreadable: number;
}

const NOWHERE: Host = { machineId: null, bootId: null, pidNamespace: null, timeNamespace: null };

/** Reads each process's stat file and, where there is a marker to look for, its environment. */
export function readTable(ports: ProcessPorts, marker: Marker | undefined): Table {
  const list = listProcesses(ports);
  if (list.kind === "blind") {
    return { kind: "incomplete", problem: list.problem, host: NOWHERE, rows: new Map(), unreadable: 0 };
  }
  const rows = new Map<number, Row>();
  let unreadable = 0;
  let problem: string | null = null;
  for (const pid of list.pids) {
    const search = marker === undefined ? "absent" : searchEnvironment(ports, pid, marker);
    if (search === "denied") unreadable += 1;
    const read = readStat(ports, pid);
    if (read.kind === "read") rows.set(pid, { stat: read.stat, marked: search === "found" });
    // Of a process without the marker that cannot be read nobody can say more than of one that is hidden.
    else if (read.kind === "unreadable" && search === "found") problem ??= `process ${pid}: ${read.why}`;
    const isExhausted = search === "descriptors-exhausted" || (read.kind === "unreadable" && read.isExhausted);
    if (isExhausted) problem ??= `process ${pid}: descriptors-exhausted`;
  }
  return { kind: problem === null ? "complete" : "incomplete", problem, host: list.host, rows, unreadable };
}

type StatRead =
  | { readonly kind: "read"; readonly stat: ProcessStat }
  | { readonly kind: "vanished" }
  | { readonly kind: "unreadable"; readonly why: string; readonly isExhausted: boolean };

function readStat(ports: ProcessPorts, pid: number): StatRead {
  try {
    const parsed = parseStat(ports.readFile(`/proc/${pid}/stat`));
    if (parsed.kind === "parsed" && parsed.stat.pid === pid) return { kind: "read", stat: parsed.stat };
    return { kind: "unreadable", why: "unparsable", isExhausted: false };
  } catch (error) {
    const errno = errnoOf(error) ?? "EIO";
    if (errno === "ENOENT" || errno === "ESRCH") return { kind: "vanished" };
    return { kind: "unreadable", why: errno, isExhausted: errno === "EMFILE" || errno === "ENFILE" };
  }
}
