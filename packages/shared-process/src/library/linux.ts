import { closeSync, fstatSync, readFileSync, statfsSync } from "node:fs";
import { constants } from "node:os";
import { statusFromWait } from "../exits/status.ts";
import type { ExitInfo } from "../types.ts";
import { checked, systemError } from "./call.ts";
import { createReserve, isExhaustion } from "./descriptors.ts";
import { createEpoll } from "./epoll.ts";
import type { KoffiLibrary } from "../observe/koffi-type.ts";
import type { Koffi } from "./koffi.ts";
import type { PidfdFeatures, PidfdLibrary, PidfdState } from "./pidfd.ts";

// The same on every architecture of Linux.
const PIDFD_SEND_SIGNAL = 424;
const PIDFD_OPEN = 434;
const SIGNAL_PROCESS_GROUP = 4;
const SOL_SOCKET = 1;
const SO_PEERPIDFD = 77;
/** _IOWR(0xFF, 11, struct pidfd_info) with the structure's first published size of 64 bytes. */
const GET_INFO = 0xc040_ff0b;
const INFO_BYTES = 64;
/** Bit PIDFD_INFO_EXIT of the mask, the first field, and where `exit_code` lies; counted in words of 4 bytes. */
const INFO_EXIT = 1 << 3;
const EXIT_CODE_AT = 15;
const POLLIN = 0x1;
const POLLHUP = 0x10;
/** Somebody else has closed the descriptor. */
const POLLNVAL = 0x20;

type Calls = ReturnType<typeof bind>;
type Call = ReturnType<KoffiLibrary["func"]>;

function bind(koffi: Koffi): {
  readonly koffi: Koffi;
  readonly syscall: Call;
  readonly poll: Call;
  readonly ioctl: Call;
  readonly getsockopt: Call;
  readonly socketpair: Call;
} {
  const library = koffi.load(null);
  return {
    koffi,
    syscall: library.func("long syscall(long number, long a, long b, long c, long d)"),
    poll: library.func("int poll(void *fds, unsigned long count, int timeout)"),
    ioctl: library.func("int ioctl(int fd, unsigned long request, void *argument)"),
    getsockopt: library.func("int getsockopt(int fd, int level, int name, void *value, void *length)"),
    socketpair: library.func("int socketpair(int domain, int type, int protocol, void *pair)"),
  };
}

/**
 * The pidfd calls of this kernel. Throws when they are not there: `ENOSYS` before Linux 5.3, `EPERM` under a container's
 * filter. `parentPid` is a second process to tell pidfs by; any will do.
 */
export function loadPidfdLibrary(koffi: Koffi, pid: number, parentPid: number): PidfdLibrary {
  const calls = bind(koffi);
  const openNow = (number: number): number =>
    checked(koffi, "pidfd_open", () => calls.syscall(PIDFD_OPEN, number, 0, 0, 0));
  const reserve = createReserve();
  const epoll = createEpoll(koffi);
  const library: Omit<PidfdLibrary, "features"> = {
    open: (number, options) => {
      try {
        return openNow(number);
      } catch (error) {
        if (!isExhaustion(error) || options?.brief !== true || !reserve.giveUp()) throw error;
        return openNow(number);
      }
    },
    close: (fd) => {
      closeSync(fd);
      reserve.take();
    },
    inodeOf: (fd) => fstatSync(fd, { bigint: true }).ino.toString(),
    stateOf: (fd) => stateOf(calls, fd),
    send: (fd, signal, target) => {
      const flags = target === "group" ? SIGNAL_PROCESS_GROUP : 0;
      const number = signal === 0 ? 0 : constants.signals[signal];
      checked(koffi, "pidfd_send_signal", () => calls.syscall(PIDFD_SEND_SIGNAL, fd, number, 0, flags));
    },
    exitStatusOf: (fd) => exitStatusOf(calls, fd),
    pidOf: (fd) => Number(/^Pid:\s+(-?\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1] ?? 0),
    peerOf: (socketFd) => {
      const value = Buffer.alloc(8);
      value.writeInt32LE(4, 4);
      const [result, length] = [value.subarray(0, 4), value.subarray(4)];
      checked(koffi, "getsockopt", () => calls.getsockopt(socketFd, SOL_SOCKET, SO_PEERPIDFD, result, length));
      return value.readInt32LE(0);
    },
    watch: (fd, until, callback) => epoll.watch(fd, until, callback),
  };
  return { ...library, features: probe(library, { pid, parentPid, calls }) };
}

/** `struct pollfd`: the descriptor, then what is asked for and what came, 16 bits each. */
const polled = new Int32Array(2);

/** poll(2) tells an end even while the process is a zombie, and not for a leader whose threads run on. */
function stateOf({ poll, koffi }: Calls, fd: number): PidfdState {
  polled[0] = fd;
  polled[1] = POLLIN;
  checked(koffi, "poll", () => poll(polled, 1, 0));
  // Every system that koffi comes built for is little-endian.
  const events = polled[1] >> 16;
  if ((events & POLLNVAL) !== 0) throw systemError("poll", constants.errno.EBADF);
  if ((events & POLLHUP) !== 0) return "reaped";
  return (events & POLLIN) === 0 ? "alive" : "ended";
}

const info = new Int32Array(INFO_BYTES / Int32Array.BYTES_PER_ELEMENT);

/** Asks into `info`. A process that is not reaped has no status yet, and the bit is taken out of the mask. */
function askForExit({ ioctl, koffi }: Calls, fd: number): void {
  info.fill(0);
  info[0] = INFO_EXIT;
  checked(koffi, "ioctl", () => ioctl(fd, GET_INFO, info));
}

/** The wait status, as waitpid(2) gives it. */
function exitStatusOf(calls: Calls, fd: number): ExitInfo["status"] {
  try {
    askForExit(calls, fd);
  } catch {
    // A kernel that does not know the request, or forgets the processes that it has reaped: nobody can tell.
    return null;
  }
  const [mask = 0, status = 0] = [info[0], info[EXIT_CODE_AT]];
  return (mask & INFO_EXIT) === 0 ? null : statusFromWait(status);
}

function tellsExits(calls: Calls, fd: number): boolean {
  try {
    askForExit(calls, fd);
    return true;
  } catch {
    return false;
  }
}

function probe(
  library: Omit<PidfdLibrary, "features">,
  { pid, parentPid, calls }: { readonly pid: number; readonly parentPid: number; readonly calls: Calls },
): PidfdFeatures {
  const own = library.open(pid);
  try {
    const { koffi, syscall } = calls;
    library.stateOf(own);
    // Signal 0 is sent to nobody. Throws where the calls are filtered.
    checked(koffi, "pidfd_send_signal", () => syscall(PIDFD_SEND_SIGNAL, own, 0, 0, 0));
    const group = Number(syscall(PIDFD_SEND_SIGNAL, own, 0, 0, SIGNAL_PROCESS_GROUP));
    const groupErrno = koffi.errno();
    return {
      kernelIds: hasPidfs(library, own, parentPid),
      // Whoever leads no group gets ESRCH; a kernel that does not know the flag says EINVAL.
      groupSignals: group === 0 || groupErrno === constants.errno.ESRCH,
      exitStatus: tellsExits(calls, own),
      peers: hasPeers(library, calls),
    };
  } finally {
    library.close(own);
  }
}

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_CLOEXEC = 0o2000000;

/** Asks for the peer of a socket that this process is itself the peer of. */
function hasPeers(library: Omit<PidfdLibrary, "features">, { koffi, socketpair }: Calls): boolean {
  const pair = new Int32Array(2);
  checked(koffi, "socketpair", () => socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
  try {
    library.close(library.peerOf(pair[0] ?? -1));
    return true;
  } catch (error) {
    if (isExhaustion(error)) throw error;
    // ENOPROTOOPT before Linux 6.5.
    return false;
  } finally {
    for (const fd of pair) closeSync(fd);
  }
}

const LONG_INODES = new Set(["x64", "arm64", "ppc64", "riscv64", "loong64"]);

/** `PIDF`, the type of pidfs in statfs(2). */
const PIDFS_MAGIC = 0x5049_4446;

/** Before pidfs all pidfds share one anonymous inode. Where `ino_t` has 32 bits the id would be cut. */
function hasPidfs(library: Omit<PidfdLibrary, "features">, own: number, parentPid: number): boolean {
  if (!LONG_INODES.has(process.arch)) return false;
  try {
    if (statfsSync(`/proc/self/fd/${own}`).type === PIDFS_MAGIC) return true;
  } catch {
    // Without /proc the inodes of two processes tell.
  }
  let other: number;
  try {
    other = library.open(parentPid);
  } catch (error) {
    if (isExhaustion(error)) throw error;
    // Process 1 of a namespace of its own has no parent there, and may have no other process to compare with.
    return false;
  }
  try {
    return library.inodeOf(own) !== library.inodeOf(other);
  } finally {
    library.close(other);
  }
}
