import type { Signal } from "../../types.ts";
import type { Koffi } from "../koffi-type.ts";
import { systemError } from "../system.ts";

/** What `proc_pidinfo` tells of one process. */
export interface MacosProcess {
  /** `p_uniqueid`: never given twice in one boot, kept across exec. Decimal digits. */
  readonly uniqueId: string;
  /** `p_idversion`: a new one with each exec. */
  readonly idVersion: number;
  /** Microseconds since the epoch, decimal digits; `null` for processes of other users. */
  readonly startMicros: string | null;
  /** `p_stat` of `sys/proc.h`: 4 is stopped, 5 a zombie. */
  readonly status: number;
  readonly group: number;
  readonly parent: number;
}

/** The functions of libSystem behind the back-end. All throw system errors. */
export interface MacosLibrary {
  /** One consistent reading, of zombies too. */
  process(pid: number): MacosProcess;
  /** Delivered only while `pid` has this `p_idversion`; ESRCH otherwise. The kernel compares. */
  signal(pid: number, idVersion: number, signal: Signal): void;
  /** What `KERN_PROCARGS2` gives: the number of arguments, the path, arguments, environment. */
  programArea(pid: number): Buffer;
  bootSession(): string;
  hostUuid(): string;
}

/** `sys/signal.h` of macOS; `os.constants` would give the numbers of the system that the tests run on. */
const SIGNAL_NUMBERS: Record<Signal, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGKILL: 9,
  SIGTERM: 15,
  SIGSTOP: 17,
  SIGCONT: 19,
};

/** Flavours and sizes of `sys/proc_info.h` and its private half. The last two may be asked for any user's process. */
const BSD_INFO = { flavour: 3, size: 136 } as const;
const SHORT_BSD_INFO = { flavour: 13, size: 64 } as const;
const UNIQUE_IDENTIFIER_INFO = { flavour: 17, size: 56 } as const;
/** As the argument of these three flavours: zombies are found as well. */
const FIND_ZOMBIES = 1;
/** `CTL_KERN`, `KERN_PROCARGS2` of `sys/sysctl.h`. */
const PROGRAM_AREA = [1, 49] as const;
/** `ARG_MAX`, and room for the number and the path before the arguments. */
const PROGRAM_AREA_BYTES = 1024 * 1024 + 4096;
/** `audit_token_t`: eight words, of which the kernel looks up a process by these two. */
const TOKEN = { size: 32, pidAt: 5 * 4, idVersionAt: 7 * 4 } as const;
/** A number is not given away so often while it is read. */
const READINGS = 3;

/** Throws when libSystem lacks one of the functions: `proc_signal_with_audittoken` is missing on old systems. */
export function loadMacosLibrary(koffi: Koffi): MacosLibrary {
  const library = koffi.load("/usr/lib/libSystem.B.dylib");
  const pidInfo = library.func("int proc_pidinfo(int pid, int flavor, uint64_t arg, _Out_ void *info, int size)");
  const signalToken = library.func("int proc_signal_with_audittoken(void *token, int sig)");
  const byName = library.func(
    "int sysctlbyname(const char *name, _Out_ void *old, _Inout_ void *old_size, void *value, size_t value_size)",
  );
  const byNumbers = library.func(
    "int sysctl(void *name, uint32_t words, _Out_ void *old, _Inout_ void *old_size, void *value, size_t value_size)",
  );
  const hostUuid = library.func("int gethostuuid(_Out_ void *id, void *wait)");
  const failed = (call: string, errno = koffi.errno()): Error => systemError(errnoName(koffi, errno), call);

  const info = (pid: number, { flavour, size }: { readonly flavour: number; readonly size: number }): Buffer => {
    const buffer = Buffer.alloc(size);
    const filled = pidInfo(pid, flavour, FIND_ZOMBIES, buffer, size);
    if (filled === size) return buffer;
    throw filled === 0 ? failed("proc_pidinfo") : systemError("EIO", "proc_pidinfo");
  };
  const filled = (call: string, size: number, read: (buffer: Buffer, length: Buffer) => unknown): Buffer => {
    const buffer = Buffer.alloc(size);
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(size));
    if (read(buffer, length) !== 0) throw failed(call);
    return buffer.subarray(0, Number(length.readBigUInt64LE()));
  };

  return {
    process: (pid) => readProcess((flavour) => info(pid, flavour)),
    signal: (pid, idVersion, signal) => {
      const token = Buffer.alloc(TOKEN.size);
      token.writeUInt32LE(pid, TOKEN.pidAt);
      token.writeInt32LE(idVersion, TOKEN.idVersionAt);
      const result = Number(signalToken(token, SIGNAL_NUMBERS[signal]));
      // It returns the error; a version that returns -1 and sets errno would be understood as well.
      if (result !== 0) throw failed("proc_signal_with_audittoken", result > 0 ? result : koffi.errno());
    },
    programArea: (pid) => {
      const name = Buffer.from(Int32Array.of(...PROGRAM_AREA, pid).buffer);
      return filled("sysctl", PROGRAM_AREA_BYTES, (buffer, length) => byNumbers(name, 3, buffer, length, null, 0));
    },
    bootSession: () =>
      filled("sysctlbyname", 64, (buffer, length) => byName("kern.bootsessionuuid", buffer, length, null, 0)).toString(
        "latin1",
      ),
    hostUuid: () => {
      const id = Buffer.alloc(16);
      // A `timespec` of zero: the platform has been known since the machine booted.
      if (hostUuid(id, Buffer.alloc(16)) !== 0) throw failed("gethostuuid");
      return id.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    },
  };
}

type Flavour = typeof BSD_INFO | typeof SHORT_BSD_INFO | typeof UNIQUE_IDENTIFIER_INFO;

/** The unique id is read first and last: what was read between belongs to it if it is the same both times. */
function readProcess(info: (flavour: Flavour) => Buffer): MacosProcess {
  for (let reading = 1; reading <= READINGS; reading += 1) {
    const before = info(UNIQUE_IDENTIFIER_INFO);
    const short = info(SHORT_BSD_INFO);
    const startMicros = readStart(info);
    const after = info(UNIQUE_IDENTIFIER_INFO);
    if (before.readBigUInt64LE(16) !== after.readBigUInt64LE(16)) continue;
    return {
      uniqueId: String(after.readBigUInt64LE(16)),
      idVersion: after.readInt32LE(32),
      startMicros,
      status: short.readUInt32LE(12),
      group: short.readUInt32LE(8),
      parent: short.readUInt32LE(4),
    };
  }
  throw systemError("EAGAIN", "proc_pidinfo");
}

function readStart(info: (flavour: Flavour) => Buffer): string | null {
  let bsd: Buffer;
  try {
    bsd = info(BSD_INFO);
  } catch {
    // Of another user, or gone by now, which the next reading tells. A missing start time authorises nothing.
    return null;
  }
  const micros = bsd.readBigUInt64LE(120) * 1_000_000n + bsd.readBigUInt64LE(128);
  return micros === 0n ? null : String(micros);
}

function errnoName(koffi: Koffi, errno: number): string {
  return Object.entries(koffi.os.errno).find(([, number]) => number === errno)?.[0] ?? "EIO";
}
