import type { Koffi } from "../koffi-type.ts";
import { systemError } from "../system.ts";

/** An open process object. Until it is closed its number is given to no other process. */
export interface WindowsProcess {
  /** The creation FILETIME: 100 ns since 1601, decimal digits. */
  readonly created: string;
  hasEnded(): boolean;
  /** Only once it has ended. */
  exitCode(): number;
  /** Ends it at once with exit code 1, as libuv does. */
  terminate(): void;
  /** May be called again. */
  close(): void;
}

/** The functions of kernel32 and advapi32 behind the back-end. All throw system errors. */
export interface WindowsLibrary {
  /** ESRCH: nothing has this number. EPERM: it may not be opened for this. */
  open(pid: number, right: "query" | "terminate"): WindowsProcess;
  machineGuid(): string;
}

/** `PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE`, and `PROCESS_TERMINATE`. */
const QUERY = 0x1000 | 0x10_0000;
const TERMINATE = 0x0001;
/** What WaitForSingleObject returns: `WAIT_OBJECT_0`, `WAIT_TIMEOUT`. */
const SIGNALLED = 0;
const TIMED_OUT = 258;
const TERMINATED_CODE = 1;
/** `HKEY_LOCAL_MACHINE`, sign-extended as the headers do it. */
const LOCAL_MACHINE = 0x8000_0002 | 0;
/** `RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY`: a text, from the 64-bit half also for 32-bit programs. */
const TEXT_OF_64_BIT = 0x2 | 0x1_0000;
/** ERROR_TOO_MANY_OPEN_FILES, _ACCESS_DENIED, _NOT_ENOUGH_MEMORY, _INVALID_PARAMETER, _NO_SYSTEM_RESOURCES. */
const ERRNOS: Readonly<Record<number, string>> = { 4: "EMFILE", 5: "EPERM", 8: "ENOMEM", 87: "ESRCH", 1450: "ENOMEM" };

export function loadWindowsLibrary(koffi: Koffi): WindowsLibrary {
  const kernel = koffi.load("kernel32.dll");
  const registry = koffi.load("advapi32.dll");
  // koffi keeps the last error from call to call.
  const lastError = kernel.func("uint32_t __stdcall GetLastError()");
  const openProcess = kernel.func("intptr_t __stdcall OpenProcess(uint32_t access, int inherit, uint32_t pid)");
  const closeHandle = kernel.func("int __stdcall CloseHandle(intptr_t handle)");
  const processTimes = kernel.func(
    "int __stdcall GetProcessTimes(intptr_t handle, _Out_ void *creation, _Out_ void *exit, _Out_ void *kernel, _Out_ void *user)",
  );
  const wait = kernel.func("uint32_t __stdcall WaitForSingleObject(intptr_t handle, uint32_t milliseconds)");
  const terminateProcess = kernel.func("int __stdcall TerminateProcess(intptr_t handle, uint32_t code)");
  const exitCodeProcess = kernel.func("int __stdcall GetExitCodeProcess(intptr_t handle, _Out_ void *code)");
  const getValue = registry.func(
    "int32_t __stdcall RegGetValueW(intptr_t key, str16 subkey, str16 value, uint32_t flags, void *type, _Out_ void *data, _Inout_ void *size)",
  );
  const failed = (call: string): Error => systemError(ERRNOS[Number(lastError())] ?? "EIO", call);

  const hasEnded = (handle: number): boolean => {
    const state = wait(handle, 0);
    if (state !== SIGNALLED && state !== TIMED_OUT) throw failed("WaitForSingleObject");
    return state === SIGNALLED;
  };
  const createdAt = (handle: number): string => {
    const creation = Buffer.alloc(8);
    const others = Buffer.alloc(8);
    if (processTimes(handle, creation, others, others, others) === 0) throw failed("GetProcessTimes");
    return String(creation.readBigUInt64LE());
  };
  const opened = (handle: number, created: string, close: () => void): WindowsProcess => ({
    created,
    close,
    hasEnded: () => hasEnded(handle),
    exitCode: () => {
      const code = Buffer.alloc(4);
      if (exitCodeProcess(handle, code) === 0) throw failed("GetExitCodeProcess");
      return code.readUInt32LE();
    },
    terminate: () => {
      if (terminateProcess(handle, TERMINATED_CODE) !== 0) return;
      const error = failed("TerminateProcess");
      // What has ended already may not be terminated: access denied.
      throw hasEnded(handle) ? systemError("ESRCH", "TerminateProcess") : error;
    },
  });

  return {
    open: (pid, right) => {
      const handle = Number(openProcess(right === "query" ? QUERY : QUERY | TERMINATE, 0, pid));
      if (handle === 0) throw failed("OpenProcess");
      let isOpen = true;
      const close = (): void => {
        // The handle's number may be another's by the second time.
        if (isOpen) closeHandle(handle);
        isOpen = false;
      };
      try {
        return opened(handle, createdAt(handle), close);
      } catch (error) {
        close();
        throw error;
      }
    },
    machineGuid: () => {
      const data = Buffer.alloc(128);
      const size = Buffer.alloc(4);
      size.writeUInt32LE(data.length);
      const key = "SOFTWARE\\Microsoft\\Cryptography";
      const result = getValue(LOCAL_MACHINE, key, "MachineGuid", TEXT_OF_64_BIT, null, data, size);
      if (result !== 0) throw systemError("ENOENT", "RegGetValueW");
      return data.toString("utf16le", 0, size.readUInt32LE());
    },
  };
}
