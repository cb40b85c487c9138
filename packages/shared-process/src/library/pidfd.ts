import type { ExitInfo, Signal } from "../types.ts";

/** What the kernel offers beyond opening, polling and signalling a pidfd; each probed by doing it (pidfd_open(2)). */
export interface PidfdFeatures {
  /** pidfs, Linux 6.9: the inode of a pidfd is the process's own. */
  readonly kernelIds: boolean;
  /** PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9. */
  readonly groupSignals: boolean;
  /** PIDFD_INFO_EXIT, Linux 6.15; 6.13 and 6.14 know the request and forget the status, which is then `null`. */
  readonly exitStatus: boolean;
  /** SO_PEERPIDFD, Linux 6.5. */
  readonly peers: boolean;
}

/** Alive; ended but not reaped (a zombie still has its number and its group); or reaped. */
export type PidfdState = "alive" | "ended" | "reaped";

/**
 * The system calls on pidfds. A pidfd is of one process for ever: a number that is given away changes nothing. All calls
 * are synchronous; those that fail throw an error whose `code` is the errno's name.
 */
export interface PidfdLibrary {
  readonly features: PidfdFeatures;
  /**
   * A descriptor for whoever has the number now, zombies included. `ESRCH`: nobody. `ENOENT`, before Linux 6.15 `EINVAL`:
   * the number is a thread's, or its process is just ending. With `brief`, the caller closes it in the same turn, and a
   * descriptor kept in reserve is given up when there is no other.
   */
  open(pid: number, options?: { readonly brief: boolean }): number;
  close(fd: number): void;
  /** Decimal digits. Only with `kernelIds`. */
  inodeOf(fd: number): string;
  stateOf(fd: number): PidfdState;
  /** To the process, or to the group that it leads, also when it has ended; `ESRCH` when there is nobody left. 0 only asks. */
  send(fd: number, signal: Signal | 0, target: "process" | "group"): void;
  /** Of a reaped process; `null` where the kernel does not tell. */
  exitStatusOf(fd: number): ExitInfo["status"];
  /** The number of its process here; 0 or less when it has none here, or no more. */
  pidOf(fd: number): number;
  /** A pidfd of the process at the other end of a unix socket. */
  peerOf(socketFd: number): number;
  /** Calls once when the process has ended (`until: "ended"`) or is reaped. To be disposed of before the descriptor is closed. */
  watch(fd: number, until: "ended" | "reaped", callback: () => void): Disposable;
}
