import { readdirSync, readFileSync } from "node:fs";

/** A process and no later one of its number. */
export interface Identity {
  readonly pid: number;
  readonly startTicks: string;
}

/** Fields after the name of /proc/PID/stat; the first is the state. `null` when there is no such process. */
function statFields(pid: number): string[] | null {
  const stat = read(`/proc/${pid}/stat`)?.toString("latin1");
  return stat === undefined ? null : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    // Ended between two looks, or another user's: in both cases not one of ours.
    return undefined;
  }
}

export function identityOf(pid: number): Identity | null {
  const fields = statFields(pid);
  const startTicks = fields?.[19];
  if (startTicks === undefined || fields?.[0] === "Z") return null;
  return { pid, startTicks };
}

export function isRunning({ pid, startTicks }: Identity): boolean {
  return identityOf(pid)?.startTicks === startTicks;
}

export function isFrozen({ pid }: Identity): boolean {
  return statFields(pid)?.[0] === "T";
}

/** It has ended and nobody has asked how. */
export function isZombie({ pid, startTicks }: Identity): boolean {
  const fields = statFields(pid);
  return fields?.[0] === "Z" && fields[19] === startTicks;
}

/** The number of the session (setsid) that a process belongs to; `null` when there is no such process. */
export function sessionNumber(pid: number): number | null {
  const number = statFields(pid)?.[3];
  return number === undefined ? null : Number(number);
}

/** Signals this process and no other; `false` when it has ended. */
export function signal(identity: Identity, name: NodeJS.Signals): boolean {
  try {
    return isRunning(identity) && process.kill(identity.pid, name);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

/** The highest resident set that the process has had, in bytes. */
export function peakMemory({ pid }: Identity): number {
  const line = /^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`)?.toString() ?? "");
  return Number(line?.[1] ?? Number.NaN) * 1_024;
}

export interface Found extends Identity {
  readonly command: string;
}

/** Running processes whose environment contains the text; the test process and its workers never do. */
export function processesWith(text: string): Found[] {
  return everyProcess().filter(({ pid }) => read(`/proc/${pid}/environ`)?.includes(text));
}

export function everyProcess(): Found[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const identity = identityOf(Number(name));
      const command = read(`/proc/${name}/cmdline`)?.toString().replaceAll("\0", " ").trim();
      return identity && command !== undefined ? [{ ...identity, command }] : [];
    });
}
