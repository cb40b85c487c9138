import type { Signal } from "../types.ts";
import { systemError } from "./system-error.ts";

/** One process of a made-up machine. Everything has a default but the pid. */
export interface FakeProcess {
  readonly pid: number;
  readonly command: string;
  readonly state: string;
  readonly ppid: number;
  readonly threads: number;
  /** Numbers of its threads besides its own. */
  readonly threadIds: readonly number[];
  readonly startTicks: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Errors that opening files of this process gives: `stat`, `status`, `environ`, `fd`; or, as `again`, reading one that is open. */
  readonly unreadable: Readonly<Record<string, string>>;
  /** Field 38 of stat for the process itself; its threads show -1. 0: a /proc that leaves the field open, for both. */
  readonly exitSignal: number;
  /** Its process group; by default its own. */
  readonly pgrp: number | null;
  /** Its session; by default its own. */
  readonly session: number | null;
  /** Directory of its cgroup; see `FakeCgroups`. */
  readonly cgroup: string | null;
  readonly uid: number;
  /** `CapPrm` of its status file. */
  readonly capabilities: string;
  /** What its links in /proc/PID/fd say, from descriptor 0 on. */
  readonly open: readonly string[];
  readonly pidNamespace: string;
  /** `true`: it belongs to another user, and signals give EPERM. */
  readonly foreign: boolean;
  /** Signals that do not end it. SIGKILL ends all but those that list it, as a process stuck in the kernel does. */
  readonly ignores: readonly Signal[];
  /** What its zombie keeps for its parent, as waitpid(2) gives it; `null`: this kernel does not show it. */
  readonly exitStatus: number | null;
  /** Text in place of its stat file. */
  readonly statText: string | null;
}

export const DEFAULTS: Omit<FakeProcess, "pid"> = {
  command: "node",
  state: "S",
  ppid: 1,
  threads: 1,
  threadIds: [],
  startTicks: "1000",
  environment: {},
  unreadable: {},
  exitSignal: 17,
  pgrp: null,
  session: null,
  cgroup: null,
  uid: 1000,
  capabilities: "0000000000000000",
  open: [],
  pidNamespace: "pid:[1]",
  foreign: false,
  ignores: [],
  exitStatus: null,
  statText: null,
};

/** Text of a file of a process in /proc. Throws ENOENT for those that it does not have. */
export function render(process: FakeProcess, pid: number, file: string): string {
  const uid = process.foreign ? 0 : process.uid;
  switch (file) {
    case "stat":
      return process.statText ?? renderStat(process, pid);
    case "status":
      return `Name:\t${process.command.replaceAll("\n", "\\n")}\nTgid:\t${process.pid}\nPid:\t${pid}\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\nCapPrm:\t${process.capabilities}\n`;
    case "environ":
      return Object.entries(process.environment)
        .map(([name, value]) => `${name}=${value}\0`)
        .join("");
    default:
      throw systemError("ENOENT");
  }
}

/** Fields 25 to 37. */
const ZEROS = "0 0 0 0 0 0 0 0 0 0 0 0 0";

function renderStat(process: FakeProcess, pid: number): string {
  const { command, state, ppid, threads, startTicks, exitSignal } = process;
  const between = "0 -1 4194304 0 0 0 0 150 50 0 0 20 0";
  const ends = exitSignal !== 0 && pid !== process.pid ? -1 : exitSignal;
  const fields = [
    state,
    ppid,
    process.pgrp ?? pid,
    process.session ?? pid,
    between,
    threads,
    0,
    startTicks,
    409_600,
    10,
    ZEROS,
    ends,
  ];
  const last = process.exitStatus === null ? "" : ` ${"0 ".repeat(13)}${process.exitStatus}`;
  return `${pid} (${command}) ${fields.join(" ")}${last}\n`;
}
