import { closeSync, readFileSync, readdirSync } from "node:fs";

/** O_CLOEXEC in the octal `flags` of /proc/self/fdinfo (proc_pid_fdinfo(5)). */
const CLOSE_ON_EXEC = 0o2000000;
const FIRST_OWN_FD = 3;

/**
 * Closes what a shell or a program left open for this process: its locks would be held, and its pipes never end, for as long as this
 * process and everything that it starts live (I151). Node opens all of its own descriptors close-on-exec and marks the low ones that it
 * inherits; those without the mark are strangers'. To be called first of all in a program that outlives its starter.
 */
export function closeInherited(): void {
  for (const fd of openDescriptors()) if (fd >= FIRST_OWN_FD && isInherited(fd)) closeQuietly(fd);
}

function openDescriptors(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch {
    // Without /proc they cannot be told apart, and closing blindly would end Node itself.
    return [];
  }
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The listing's own descriptor is closed by now.
    return false;
  }
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // Closed meanwhile, which is what was wanted.
  }
}
